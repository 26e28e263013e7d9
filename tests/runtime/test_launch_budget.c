/* SPDX-License-Identifier: MIT */
/* Launches that would exceed a budget: cut into pieces that together do what the whole does, and never otherwise. */
#include "runtime/launch_budget.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/launch.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

enum { ITEMS = 4096, LOCAL0 = 2, LOCAL1 = 2 };

/* Each item counts itself by its global place, and tells the group that it believes to be in. */
static const char text[] = "__kernel void count_items(__global int *x, int size0, int size1, int groups0, int groups1)\n"
                           "{\n"
                           "    const int at = ((int)get_global_id(2) * size1 + (int)get_global_id(1)) * size0 + (int)get_global_id(0);\n"
                           "    x[2 * at]++;\n"
                           "    x[2 * at + 1] = ((int)get_group_id(2) * groups1 + (int)get_group_id(1)) * groups0 + (int)get_group_id(0);\n"
                           "}\n";
static const clf_kernel_file files[] = {{"any/count_items.cl", text, sizeof text - 1}};
static const clf_kernel_set own = {files, COUNT(files)};

typedef struct shape {
    size_t groups[3], local[3];
} shape;

static const shape shapes[] = {
    {{1, 1, 1}, {1, 1, 1}}, {{700, 1, 1}, {2, 1, 1}}, {{5, 60, 1}, {LOCAL0, LOCAL1, 1}},
    {{3, 7, 9}, {4, 1, 1}}, {{1, 1, 97}, {8, 1, 1}},  {{64, 1, 5}, {LOCAL0, LOCAL1, 1}},
};

static clf_context *create(const clf_context *like, double launch_ms, int profile)
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context = NULL;
    char selector[32];
    snprintf(selector, sizeof selector, "%zu", like->device.info.index);
    params.device = selector;
    params.launch_ms = launch_ms;
    params.profile = profile;
    CHECK_OK(clf_context_create(&params, &context));
    return context;
}

/* One launch that is estimated to take `limits` budgets (0: states no work), and what is left of it. Returns in how many pieces it was. */
static uint64_t launch_once(clf_context *context, const shape *s, double limits)
{
    clf_kernel_spec spec = clfi_kernel_spec("count_items.cl", "count_items");
    int *got = calloc(2 * ITEMS, sizeof *got);
    size_t size[3], count = 1;
    clf_buffer *x;
    spec.own = &own;
    for (int i = 0; i < 3; i++)
        count *= size[i] = s->groups[i] * s->local[i];
    assert_true(got && count <= ITEMS);
    CHECK_OK(clfi_buffer_create(context, 2 * ITEMS * sizeof *got, &x));
    CHECK_OK(clfi_buffer_write(x, 0, got, 2 * ITEMS * sizeof *got));
    const uint64_t before = device_launches(context);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, x);
    clfi_arg_int(&launch, (int64_t)size[0]);
    clfi_arg_int(&launch, (int64_t)size[1]);
    clfi_arg_int(&launch, (int64_t)s->groups[0]);
    clfi_arg_int(&launch, (int64_t)s->groups[1]);
    clfi_launch_work(&launch, 0, limits * context->budget.limit_ns * context->budget.bytes_per_ns);
    CHECK_OK(clfi_launch_3d(&launch, s->groups, s->local));
    CHECK_OK(clfi_buffer_read(x, 0, got, 2 * ITEMS * sizeof *got));
    for (size_t i = 0; i < count; i++) {
        const size_t at[3] = {i % size[0] / s->local[0], i / size[0] % size[1] / s->local[1], i / size[0] / size[1] / s->local[2]};
        const size_t group = (at[2] * s->groups[1] + at[1]) * s->groups[0] + at[0];
        CHECK(got[2 * i] == 1 && got[2 * i + 1] == (int)group, "item %zu ran %d times in group %d, expected group %zu", i, got[2 * i],
              got[2 * i + 1], group);
    }
    clfi_buffer_release(x);
    free(got);
    return device_launches(context) - before;
}

/* Every item runs once and knows its group, in as few pieces as keep the budget, none of which has more than its share. */
static void test_pieces(void **state)
{
    clf_context *context = create(*state, 1, 1);
    context->budget.is_measured = true; /* the guess stays: the numbers below follow from it */
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (double limits = 0.5; limits < 600; limits *= 4) {
            const shape *s = &shapes[i];
            const size_t groups = s->groups[0] * s->groups[1] * s->groups[2], items = groups * s->local[0] * s->local[1] * s->local[2];
            const clf_work work = {0, limits * context->budget.limit_ns * context->budget.bytes_per_ns};
            const double estimate = clfi_budget_estimate(context, &work, (double)items) / context->budget.limit_ns;
            size_t piece[3];
            clfi_budget_piece(context, &work, s->groups, s->local, piece);
            uint64_t wanted = 1;
            for (int d = 0; d < 3; d++)
                wanted *= (s->groups[d] + piece[d] - 1) / piece[d];
            const uint64_t pieces = launch_once(context, s, limits);
            CHECK(pieces == wanted, "shape %zu, %g budgets: %d pieces, expected %d", i, limits, (int)pieces, (int)wanted);
            CHECK((pieces > 1) == (estimate > 1 && piece[0] * piece[1] * piece[2] < groups), "shape %zu, estimate %g: %d pieces", i,
                  estimate, (int)pieces);
            CHECK((double)pieces <= 4 * estimate + 1, "shape %zu, estimate %g: %d pieces", i, estimate, (int)pieces);
            const clf_work part = {0, work.bytes / (double)groups * (double)(piece[0] * piece[1] * piece[2])};
            const double share = part.bytes / context->budget.bytes_per_ns / context->budget.limit_ns;
            const bool is_least = piece[0] * piece[1] * piece[2] * s->local[0] * s->local[1] * s->local[2] <
                                  2 * (size_t)(2 * 64 * context->device.caps.compute_units);
            CHECK(share <= 1.0001 || is_least, "shape %zu, %g budgets: a piece has %g of one", i, limits, share);
        }
    clf_context_stats stats;
    CHECK_OK(clf_context_finish(context));
    clf_context_get_stats(context, &stats);
    CHECK(stats.longest_estimate_ns > 0 && stats.longest_launch_ns > 0 && stats.longest_launch_ns <= stats.kernel_ns,
          "longest launch: %llu ns by estimate, %llu measured", (unsigned long long)stats.longest_estimate_ns,
          (unsigned long long)stats.longest_launch_ns);
    clf_context_destroy(context);
}

/* Without a bound, or without stated work, a launch stays whole. */
static void test_whole(void **state)
{
    clf_context *bounded = create(*state, 1e-3, 0), *free_one = create(*state, -1, 0);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        assert_int_equal(launch_once(bounded, &shapes[i], 0), 1);
        assert_int_equal(launch_once(free_one, &shapes[i], 1e6), 1);
    }
    assert_false(clfi_budget_is_set(free_one));
    clf_context_destroy(bounded);
    clf_context_destroy(free_one);
}

/* Gives a variable its old value, which is freed; NULL: it had none. */
static void restore(const char *name, char *kept)
{
    if (kept)
        setenv(name, kept, 1);
    else
        unsetenv(name);
    free(kept);
}

/* The first launch beyond the budget has the rates looked up; they are numbers, and a second context finds the same. */
static void test_rates(void **state)
{
    const char *old = getenv("CLF_CACHE_DIR");
    char folder[TEMP_PATH_BYTES], *kept = old ? strdup(old) : NULL;
    temp_directory_make(folder);
    setenv("CLF_CACHE_DIR", folder, 1);
    clf_context *first = create(*state, 1, 0);
    assert_false(first->budget.is_measured);
    const double guess = first->budget.multiply_adds_per_ns;
    launch_once(first, &shapes[1], 100);
    CHECK(first->budget.is_measured && first->budget.multiply_adds_per_ns >= guess / 16 &&
              first->budget.multiply_adds_per_ns <= 8 * guess && first->budget.bytes_per_ns > 0,
          "%g multiply-adds in a nanosecond, guessed %g; %g bytes", first->budget.multiply_adds_per_ns, guess, first->budget.bytes_per_ns);
    clf_context *second = create(*state, 1, 0);
    launch_once(second, &shapes[1], 100);
    CHECK(fabs(second->budget.multiply_adds_per_ns / first->budget.multiply_adds_per_ns - 1) < 1e-5 &&
              fabs(second->budget.bytes_per_ns / first->budget.bytes_per_ns - 1) < 1e-5,
          "a second context finds %g multiply-adds in a nanosecond and %g bytes, the first %g and %g", second->budget.multiply_adds_per_ns,
          second->budget.bytes_per_ns, first->budget.multiply_adds_per_ns, first->budget.bytes_per_ns);
    clf_context_destroy(second);
    clf_context_destroy(first);
    temp_directory_remove(folder);
    restore("CLF_CACHE_DIR", kept);
}

typedef struct variable_case {
    const char *value;
    double ms; /* below 0: refused; NAN is the device's default */
} variable_case;

static void test_variable(void **state)
{
    static const variable_case cases[] = {{"0", 0},     {"12.5", 12.5}, {"1e3", 1000}, {"", -2},    {"-1", -1},
                                          {"fast", -1}, {"5ms", -1},    {"nan", -1},   {"inf", -1}, {"1e999", -1}};
    const clf_context *like = *state;
    const char *old = getenv("CLF_LAUNCH_MS");
    char *kept = old ? strdup(old) : NULL;
    for (size_t i = 0; i < COUNT(cases); i++) {
        clf_context probe = {.device = like->device};
        setenv("CLF_LAUNCH_MS", cases[i].value, 1);
        const clf_status st = clfi_budget_set(&probe, 0);
        const double wanted = cases[i].ms == -2 ? clfi_budget_default_ms(&like->device) : cases[i].ms;
        if (wanted < 0)
            CHECK_FAILS(st, CLF_INVALID_ARGUMENT, "CLF_LAUNCH_MS: expected milliseconds");
        else
            CHECK(st == CLF_OK && probe.budget.limit_ns == wanted * 1e6, "CLF_LAUNCH_MS=%s: %g ns", cases[i].value, probe.budget.limit_ns);
        CHECK_OK(clfi_budget_set(&probe, 7)); /* what the caller says goes before the variable */
        assert_true(probe.budget.limit_ns == 7e6);
    }
    restore("CLF_LAUNCH_MS", kept);
}

/* Half of the bound, from wherever it comes; the variable counts where the caller leaves the choice, and contexts that share inherit it. */
static void test_background(void **state)
{
    static const struct {
        const char *variable;
        int given;
        bool wanted;
    } cases[] = {{"1", 0, true}, {"1", -1, false}, {"0", 1, true}, {"0", 0, false}, {"", 0, false}, {"", 1, true}};
    const clf_context *like = *state;
    char selector[32];
    const char *old = getenv("CLF_BACKGROUND");
    char *kept = old ? strdup(old) : NULL;
    snprintf(selector, sizeof selector, "%zu", like->device.info.index);
    for (size_t i = 0; i < COUNT(cases); i++) {
        clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
        clf_context *context, *shared;
        setenv("CLF_BACKGROUND", cases[i].variable, 1);
        params.device = selector;
        params.launch_ms = 8;
        params.background = cases[i].given;
        CHECK_OK(clf_context_create(&params, &context));
        CHECK_OK(clf_context_create_shared(context, &shared));
        const double wanted = cases[i].wanted ? 4e6 : 8e6;
        CHECK(context->budget.limit_ns == wanted && shared->budget.limit_ns == wanted && shared->is_background == cases[i].wanted,
              "CLF_BACKGROUND=%s and %d: %g ns, shared %g", cases[i].variable, cases[i].given, context->budget.limit_ns,
              shared->budget.limit_ns);
        context->budget.is_measured = true;
        launch_once(context, &shapes[1], 40); /* with a wait between pieces */
        clf_context_destroy(shared);
        clf_context_destroy(context);
    }
    restore("CLF_BACKGROUND", kept);
}

static void test_defaults(void **state)
{
    (void)state;
    clf_device device = {.info = {.type = CLF_DEVICE_TYPE_GPU, .unified_memory = 1}};
    assert_true(clfi_budget_default_ms(&device) == 100);
    device.info.unified_memory = 0;
    assert_true(clfi_budget_default_ms(&device) == 500);
    device.info.type = CLF_DEVICE_TYPE_CPU;
    assert_true(clfi_budget_default_ms(&device) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),   cmocka_unit_test(test_whole),      cmocka_unit_test(test_rates),
        cmocka_unit_test(test_variable), cmocka_unit_test(test_background), cmocka_unit_test(test_defaults),
    };
    return cmocka_run_group_tests_name("runtime.launch_budget", tests, device_setup, device_teardown);
}
