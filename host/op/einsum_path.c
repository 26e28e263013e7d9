/* SPDX-License-Identifier: MIT */
/* Finds contraction orders by dynamic programming over subsets of terms, and greedily for many terms. A subset's result has the same labels
 * however it was contracted: those that the output or the other terms still need. So the cheapest tree of a subset is the cheapest split
 * into two subsets' cheapest trees. There are 3^n splits in all. Greedy follows Smith and Gray, "opt_einsum - A Python package for
 * optimizing contraction order for einsum-like expressions", JOSS 2018. Equal label sets come first. Then come pairs that share a summed
 * label, by how much memory they free, and then outer products by size. */
#include "op/einsum_path.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

double clfi_einsum_step_cost(clf_label_set all, clf_label_set kept, int terms, const int64_t *size)
{
    const double factor = (terms > 2 ? terms - 1 : 1) + (labels_equal(all, kept) ? 0 : 1);
    return labels_size(all, size) * factor;
}

/* One subset of the terms. */
typedef struct subset {
    clf_label_set all;  /* labels of its terms */
    clf_label_set kept; /* labels of its result; for a single term, all labels */
    double elements;    /* of the result */
    double cost;        /* of the cheapest tree; INFINITY while none is known */
    double held;        /* elements of all intermediates of the cheapest tree */
    unsigned left;      /* left part of the cheapest tree's split */
} subset;

static void try_splits(subset *sets, unsigned whole, const int64_t *size)
{
    subset *s = &sets[whole];
    const unsigned lowest = whole & (0u - whole);
    for (unsigned right = (whole - 1) & whole; right; right = (right - 1) & whole) {
        if (right & lowest)
            continue; /* the mirrored split is tried instead */
        const subset *a = &sets[whole ^ right], *b = &sets[right];
        const double below = a->cost + b->cost;
        if (!(below <= s->cost) || isinf(below))
            continue;
        const double cost = below + clfi_einsum_step_cost(labels_or(a->kept, b->kept), s->kept, 2, size);
        const double held = a->held + b->held + s->elements;
        if (cost < s->cost || (cost == s->cost && held < s->held)) {
            s->cost = cost;
            s->held = held;
            s->left = whole ^ right;
        }
    }
}

/* Emits the tree of `whole` in post-order; returns the number of its result. */
static int emit_tree(const subset *sets, unsigned whole, int terms, clf_einsum_path *out)
{
    if ((whole & (whole - 1)) == 0)
        return __builtin_ctz(whole);
    const int a = emit_tree(sets, sets[whole].left, terms, out);
    const int b = emit_tree(sets, whole ^ sets[whole].left, terms, out);
    clf_einsum_merge *merge = &out->merge[out->count];
    merge->count = 2;
    merge->input[0] = (uint8_t)(a < b ? a : b);
    merge->input[1] = (uint8_t)(a < b ? b : a);
    return terms + out->count++;
}

/* The cheapest tree of pairs; out->count stays 0 when the limit admits none. */
static clf_status find_exact(const clf_label_set *term, int count, clf_label_set output, const int64_t *size, double limit,
                             clf_einsum_path *out)
{
    const unsigned full = (1u << count) - 1;
    subset *sets = NULL;
    CLF_TRY(clfi_alloc((size_t)full + 1, sizeof *sets, "contraction order", &sets));
    for (unsigned whole = 1; whole <= full; whole++)
        sets[whole].all = labels_or(sets[whole & (whole - 1)].all, term[__builtin_ctz(whole)]);
    for (unsigned whole = 1; whole <= full; whole++) {
        subset *s = &sets[whole];
        const bool single = (whole & (whole - 1)) == 0;
        s->kept = single ? s->all : labels_and(s->all, labels_or(output, sets[full ^ whole].all));
        s->elements = single ? 0 : labels_size(s->kept, size);
        s->cost = single ? 0 : INFINITY;
        if (!single && (whole == full || s->elements <= limit))
            try_splits(sets, whole, size);
    }
    if (!isinf(sets[full].cost)) {
        out->cost = sets[full].cost;
        emit_tree(sets, full, count, out);
    }
    free(sets);
    return CLF_OK;
}

/* The terms that greedy still has to multiply, in the order in which they appeared. */
typedef struct tensor_pool {
    int count;
    clf_label_set labels[CLF_EINSUM_MAX_OPERANDS];
    uint8_t number[CLF_EINSUM_MAX_OPERANDS];
    int terms; /* of the whole einsum */
    clf_label_set output;
    const int64_t *size;
    double limit;
} tensor_pool;

/* Labels that the result of merging entries i and j keeps. */
static clf_label_set kept_by(const tensor_pool *p, int i, int j)
{
    clf_label_set needed = p->output;
    for (int k = 0; k < p->count; k++)
        if (k != i && k != j)
            needed = labels_or(needed, p->labels[k]);
    return labels_and(labels_or(p->labels[i], p->labels[j]), needed);
}

static bool fits(const tensor_pool *p, clf_label_set kept)
{
    return p->count == 2 || labels_size(kept, p->size) <= p->limit;
}

static void merge_pair(tensor_pool *p, int i, int j, clf_einsum_path *out)
{
    const clf_label_set all = labels_or(p->labels[i], p->labels[j]), kept = kept_by(p, i, j);
    out->cost += clfi_einsum_step_cost(all, kept, 2, p->size);
    clf_einsum_merge *merge = &out->merge[out->count];
    merge->count = 2;
    merge->input[0] = p->number[i];
    merge->input[1] = p->number[j];
    int left = 0;
    for (int k = 0; k < p->count; k++)
        if (k != i && k != j) {
            p->labels[left] = p->labels[k];
            p->number[left++] = p->number[k];
        }
    p->labels[left] = kept;
    p->number[left++] = (uint8_t)(p->terms + out->count++);
    p->count = left;
}

static bool merge_equal(tensor_pool *p, clf_einsum_path *out)
{
    for (int i = 0; i < p->count; i++)
        for (int j = i + 1; j < p->count; j++)
            if (labels_equal(p->labels[i], p->labels[j]) && fits(p, kept_by(p, i, j))) {
                merge_pair(p, i, j, out);
                return true;
            }
    return false;
}

/* Merges the pair with a shared summable label that frees most memory, or (outer) any pair with the smallest result. */
static bool merge_best(tensor_pool *p, bool outer, clf_einsum_path *out)
{
    int best_i = -1, best_j = -1;
    double best = INFINITY;
    clf_label_set common = p->labels[0];
    for (int k = 1; k < p->count; k++)
        common = labels_and(common, p->labels[k]);
    const clf_label_set fixed = p->count > 2 ? labels_or(p->output, common) : p->output;
    for (int i = 0; i < p->count; i++)
        for (int j = i + 1; j < p->count; j++) {
            if (!outer && labels_empty(labels_minus(labels_and(p->labels[i], p->labels[j]), fixed)))
                continue;
            const clf_label_set kept = kept_by(p, i, j);
            if (!fits(p, kept))
                continue;
            double gain = labels_size(kept, p->size);
            if (!outer)
                gain -= labels_size(p->labels[i], p->size) + labels_size(p->labels[j], p->size);
            if (gain < best) {
                best = gain;
                best_i = i;
                best_j = j;
            }
        }
    if (best_i < 0)
        return false;
    merge_pair(p, best_i, best_j, out);
    return true;
}

static void merge_rest(tensor_pool *p, clf_einsum_path *out)
{
    clf_label_set all = labels_none();
    clf_einsum_merge *merge = &out->merge[out->count++];
    merge->count = p->count;
    for (int k = 0; k < p->count; k++) {
        all = labels_or(all, p->labels[k]);
        merge->input[k] = p->number[k];
    }
    out->cost += clfi_einsum_step_cost(all, labels_and(all, p->output), p->count, p->size);
}

static void find_greedy(const clf_label_set *term, int count, clf_label_set output, const int64_t *size, double limit, clf_einsum_path *out)
{
    tensor_pool p = {.count = count, .terms = count, .output = output, .size = size, .limit = limit};
    for (int k = 0; k < count; k++) {
        p.labels[k] = term[k];
        p.number[k] = (uint8_t)k;
    }
    while (p.count > 1)
        if (!merge_equal(&p, out) && !merge_best(&p, false, out) && !merge_best(&p, true, out)) {
            merge_rest(&p, out);
            break;
        }
}

clf_status clfi_einsum_path_find(const clf_label_set *term, int count, clf_label_set output, const int64_t *size, double limit,
                                 clf_einsum_path *out)
{
    memset(out, 0, sizeof *out);
    if (count <= 1)
        return CLF_OK;
    if (count <= CLFI_EINSUM_EXACT_TERMS)
        CLF_TRY(find_exact(term, count, output, size, limit, out));
    if (out->count == 0)
        find_greedy(term, count, output, size, limit, out);
    return CLF_OK;
}
