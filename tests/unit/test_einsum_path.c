/* SPDX-License-Identifier: MIT */
/* Contraction order: the exact search against all pairwise trees, known costs, greedy quality, memory limits. */
#include "op/einsum_path.h"
#include "op/einsum_plan.h"
#include "support/cases_einsum.h"
#include "support/check.h"

static uint32_t random_state = 12345;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

typedef struct problem {
    int terms;
    clf_label_set term[CLF_EINSUM_MAX_OPERANDS], output;
    int64_t size[CLFI_EINSUM_MAX_LABELS];
} problem;

static problem random_problem(int terms, int labels, uint32_t most)
{
    problem p = {.terms = terms};
    for (int label = 0; label < CLFI_EINSUM_MAX_LABELS; label++)
        p.size[label] = 2 + draw(5);
    for (int k = 0; k < terms; k++)
        for (uint32_t i = 0, rank = draw(most + 1); i < rank; i++)
            labels_add(&p.term[k], (int)draw((uint32_t)labels) * 5 % CLFI_EINSUM_MAX_LABELS);
    for (uint32_t i = 0, rank = draw(3); i < rank; i++)
        p.output = labels_or(p.output, labels_and(p.term[draw((uint32_t)terms)], p.term[draw((uint32_t)terms)]));
    return p;
}

/* Least cost over every sequence of pairs. */
static double brute_force(const problem *p, double limit)
{
    if (p->terms == 1)
        return 0;
    double best = INFINITY;
    for (int i = 0; i < p->terms; i++)
        for (int j = i + 1; j < p->terms; j++) {
            problem next = *p;
            clf_label_set needed = p->output;
            for (int k = 0; k < p->terms; k++)
                if (k != i && k != j)
                    needed = labels_or(needed, p->term[k]);
            const clf_label_set all = labels_or(p->term[i], p->term[j]), kept = labels_and(all, needed);
            if (p->terms > 2 && labels_size(kept, p->size) > limit)
                continue;
            next.term[i] = kept;
            next.term[j] = p->term[p->terms - 1];
            next.terms--;
            const double cost = clfi_einsum_step_cost(all, kept, 2, p->size) + brute_force(&next, limit);
            if (cost < best)
                best = cost;
        }
    return best;
}

/* Replays a path: recomputes its cost and checks that every term is used once and no intermediate exceeds the limit. */
static double replay(const problem *p, const clf_einsum_path *path, double limit)
{
    clf_label_set term[2 * CLF_EINSUM_MAX_OPERANDS];
    bool used[2 * CLF_EINSUM_MAX_OPERANDS] = {false};
    double cost = 0;
    memcpy(term, p->term, sizeof p->term);
    for (int m = 0; m < path->count; m++) {
        clf_label_set all = labels_none(), needed = p->output;
        for (int i = 0; i < path->merge[m].count; i++) {
            const int id = path->merge[m].input[i];
            assert_true(id < p->terms + m && !used[id]);
            used[id] = true;
            all = labels_or(all, term[id]);
        }
        for (int id = 0; id < p->terms + m; id++)
            if (!used[id])
                needed = labels_or(needed, term[id]);
        term[p->terms + m] = labels_and(all, needed);
        cost += clfi_einsum_step_cost(all, term[p->terms + m], path->merge[m].count, p->size);
        if (m + 1 < path->count)
            assert_true(labels_size(term[p->terms + m], p->size) <= limit);
    }
    for (int id = 0; id < p->terms + path->count - 1; id++)
        assert_true(used[id]);
    return cost;
}

static void exact_is_least(void **state)
{
    (void)state;
    clf_einsum_path path;
    for (int trial = 0; trial < 400; trial++) {
        const problem p = random_problem(2 + trial % 5, 3 + (int)draw(6), 3);
        CHECK_OK(clfi_einsum_path_find(p.term, p.terms, p.output, p.size, INFINITY, &path));
        const double least = brute_force(&p, INFINITY);
        CHECK(path.cost == least && replay(&p, &path, INFINITY) == least, "trial %d: cost %g, least %g", trial, path.cost, least);
    }
}

static void exact_within_limit(void **state)
{
    (void)state;
    clf_einsum_path path;
    int limited = 0, all_at_once = 0;
    for (int trial = 0; trial < 600; trial++) {
        const problem p = random_problem(3 + trial % 4, 4 + (int)draw(6), 5);
        const double limit = 1 + draw(400), least = brute_force(&p, limit);
        CHECK_OK(clfi_einsum_path_find(p.term, p.terms, p.output, p.size, limit, &path));
        CHECK(path.cost == replay(&p, &path, limit), "trial %d", trial);
        if (isinf(least)) {
            CHECK(path.merge[path.count - 1].count > 2, "trial %d: a pair where none fits", trial);
            all_at_once++;
        } else {
            CHECK(path.cost == least, "trial %d: cost %g, least %g", trial, path.cost, least);
            limited += least > brute_force(&p, INFINITY);
        }
    }
    CHECK(limited >= 5 && all_at_once > 10, "%d limited, %d all at once", limited, all_at_once);
}

/* Forces the greedy order on problems that the exact search can judge, by adding scalars up to 13 terms. */
static void greedy_is_near(void **state)
{
    (void)state;
    clf_einsum_path path;
    for (int trial = 0; trial < 100; trial++) {
        const problem p = random_problem(5, 6, 3);
        problem many = p;
        many.terms = CLFI_EINSUM_EXACT_TERMS + 1;
        CHECK_OK(clfi_einsum_path_find(many.term, many.terms, many.output, many.size, INFINITY, &path));
        CHECK(path.cost == replay(&many, &path, INFINITY), "trial %d", trial);
        /* a product with a scalar costs at most the size of the other factor, which is at most what the pair before it cost */
        const double least = brute_force(&p, INFINITY);
        double bound = 0;
        for (int k = 0; k < p.terms; k++)
            bound += labels_size(p.term[k], p.size);
        CHECK(path.cost <= 4 * least + 16 * bound + 16, "trial %d: cost %g, least %g", trial, path.cost, least);
    }
    problem chain = {.terms = 16};
    for (int label = 0; label < 17; label++)
        chain.size[label] = 10;
    for (int k = 0; k < 16; k++) {
        labels_add(&chain.term[k], k);
        labels_add(&chain.term[k], k + 1);
    }
    labels_add(&chain.output, 0);
    labels_add(&chain.output, 16);
    CHECK_OK(clfi_einsum_path_find(chain.term, 16, chain.output, chain.size, INFINITY, &path));
    CHECK(path.cost == 15 * 2000, "16 square matrices cost %g", path.cost);
}

/* Costs that follow from hand calculation with the model: size of the loops times 2 where something is summed. */
static void known_costs(void **state)
{
    (void)state;
    static const struct {
        const char *equation, *shapes;
        double cost, naive, largest;
        int steps;
    } rows[] = {
        {"ij,jk->ik", "2x3,3x4", 48, 48, 0, 1},
        {"ij,jk,kl->il", "10x100,100x5,5x50", 2.0 * (10 * 100 * 5 + 10 * 5 * 50), 3.0 * 10 * 100 * 5 * 50, 50, 2},
        {"ij,jk,kl->il", "100x10,10x100,100x1", 2.0 * (10 * 100 + 100 * 10), 3.0 * 1e5, 10, 2},
        {"ij->", "3x4", 24, 24, 0, 1},
        {"ij,k->", "3x4,5", 24 + 10 + 1, 120, 1, 3},
        {"ij->ji", "3x4", 12, 12, 0, 1},
        {"i,i,i->i", "4,4,4", 8, 8, 4, 2},
        {"ab,bc,bd->acd", "2x4,1x3,4x2", 2.0 * 2 * 4 * 2 + 2 * 3 * 2, 3.0 * 2 * 4 * 3 * 2, 4, 2},
    };
    einsum_case one;
    static clf_einsum_form form;
    static clf_einsum_plan plan;
    for (size_t i = 0; i < COUNT(rows); i++) {
        einsum_case_make(rows[i].equation, rows[i].shapes, &one);
        CHECK_OK(clfi_einsum_parse(one.equation, one.shape, one.count, &form));
        CHECK_OK(clfi_einsum_plan_make(&form, CLF_EINSUM_NO_LIMIT, &plan));
        CHECK(plan.cost == rows[i].cost && plan.naive_cost == rows[i].naive && plan.largest == rows[i].largest &&
                  plan.step_count == rows[i].steps,
              "%s: cost %g naive %g largest %g steps %d", one.id, plan.cost, plan.naive_cost, plan.largest, plan.step_count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_is_least),
        cmocka_unit_test(exact_within_limit),
        cmocka_unit_test(greedy_is_near),
        cmocka_unit_test(known_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
