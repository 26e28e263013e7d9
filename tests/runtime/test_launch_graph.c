/* SPDX-License-Identifier: MIT */
/* Tests launch graphs: many launches in one give the same results as one by one. A launch that cannot be part of a graph ends it. Errors
 * leave nothing behind. On devices without graphs the same launches run one by one. Only GPUs have graphs with kernels that run as
 * work-groups. */
#include "runtime/launch_graph.h"

#include <string.h>

#include "runtime/launch.h"
#include "runtime/probe.h"
#include "runtime/program_build.h"
#include "runtime/rehearsal.h"
#include "support/check.h"
#include "support/device.h"
#include "support/graph_step.h"

enum { STEPS = 301 };

/* Two buffers on the device, and what ought to be there. */
typedef struct world {
    clf_context *context;
    clf_launch_graph *graph;
    clf_buffer *buffer[2];
    int host[2][GRAPH_STEP_SIZE];
    int step;
    const graph_step_shape *shape; /* every other step is an exchange; NULL: all are turns */
} world;

static void create(clf_context *context, world *w)
{
    *w = (world){.context = context};
    for (int i = 0; i < GRAPH_STEP_SIZE; i++)
        w->host[0][i] = i * i;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(clfi_buffer_create(context, sizeof w->host[i], &w->buffer[i]));
        CHECK_OK(clfi_buffer_write(w->buffer[i], 0, w->host[i], sizeof w->host[i]));
    }
    CHECK_OK(clfi_graph_create(context, 2, &w->graph));
}

static void destroy(world *w)
{
    CHECK_OK(clf_context_finish(w->context));
    clfi_graph_destroy(w->graph);
    for (int i = 0; i < 2; i++)
        clfi_buffer_release(w->buffer[i]);
}

static bool is_exchange(const world *w)
{
    return w->shape && w->step % 2 == 1;
}

/* Expected contents of the buffers after `count` steps. */
static void expect(world *w, int count)
{
    for (const int end = w->step + count; w->step < end; w->step++) {
        const int *const from = w->host[w->step % 2];
        int *const to = w->host[1 - w->step % 2];
        if (is_exchange(w))
            graph_step_exchange_expected(w->shape, from, to, w->step);
        else
            graph_step_turn_expected(from, to, w->step);
    }
}

static clf_status run(world *w, int count)
{
    for (int i = 0; i < count; i++) {
        const clf_buffer *const from = w->buffer[w->step % 2], *const to = w->buffer[1 - w->step % 2];
        CLF_TRY(is_exchange(w) ? graph_step_exchange(w->context, w->shape, from, to, w->step)
                               : graph_step_turn(w->context, from, to, w->step));
        expect(w, 1);
    }
    return CLF_OK;
}

static void check(const world *w)
{
    int got[GRAPH_STEP_SIZE];
    for (int i = 0; i < 2; i++) {
        CHECK_OK(clfi_buffer_read(w->buffer[i], 0, got, sizeof got));
        CHECK(memcmp(got, w->host[i], sizeof got) == 0, "buffer %d after %d steps: it begins with %d, expected %d", i, w->step, got[0],
              w->host[i][0]);
    }
}

/* Launches since there were `before`: one of a graph, or `single` ones. A graph of groups is launched once more, with fewer of them, where
 * those that began waited too long for the others: so it is on a busy machine. */
static void check_launches(const world *w, uint64_t before, bool is_graph, uint64_t single, const char *what)
{
    const uint64_t count = device_launches(w->context) - before, most = w->context->device.caps.graph_group > 1 ? 2 : 1;
    CHECK(is_graph ? count >= 1 && count <= most : count == single, "%s: %llu launches, expected %s%llu", what, (unsigned long long)count,
          is_graph ? "at most " : "", (unsigned long long)(is_graph ? most : single));
}

enum { ROUNDS = 4, MOST_KERNELS = 3 };

/* Runs a graph of steps that have the first `kernels` kernels of turns. */
static clf_status run_kernels(world *w, int kernels)
{
    clf_status st = CLF_OK;
    assert_true(clfi_graph_begin(w->graph, NULL, 0));
    for (int k = 0; k < ROUNDS; k++) {
        w->step = w->step / 6 * 6 + 6;
        st = st != CLF_OK ? st : run(w, kernels);
    }
    return clfi_graph_end(w->graph, st);
}

/* Two sets of kernels have programs; what needs others is launched one by one, and what does not is a graph as before. */
static void test_changing_kernels(void **state)
{
    static const int kernels[] = {1, 1, 2, 2, MOST_KERNELS, 2};
    world w;
    create(*state, &w);
    for (size_t i = 0; i < COUNT(kernels); i++) {
        const uint64_t before = device_launches(w.context);
        CHECK_OK(run_kernels(&w, kernels[i]));
        check(&w);
        if (i > 0) /* the first asks where buffers lie */
            check_launches(&w, before, w.graph && kernels[i] < MOST_KERNELS, (uint64_t)(ROUNDS * kernels[i]), "kernels that change");
    }
    destroy(&w);
}

static clf_status run_all_kernels(void *user)
{
    for (int kernels = 1; kernels <= MOST_KERNELS; kernels++)
        CLF_TRY(run_kernels(user, kernels));
    return CLF_OK;
}

/* A rehearsal of several sets of kernels makes one program for all of them. */
static void test_rehearsed_kernels(void **state)
{
    world w, rehearsed;
    create(*state, &w);
    rehearsed = w;
    CHECK_OK(clfi_rehearse(w.context, run_all_kernels, &rehearsed));
    for (int kernels = MOST_KERNELS; kernels > 0; kernels--) {
        const uint64_t before = device_launches(w.context);
        CHECK_OK(run_kernels(&w, kernels));
        check(&w);
        if (kernels < MOST_KERNELS)
            check_launches(&w, before, w.graph, (uint64_t)(ROUNDS * kernels), "kernels that were rehearsed");
    }
    destroy(&w);
}

/* Work that exceeds a launch's budget forms no graph while it does. */
static void test_budget(void **state)
{
    world w;
    create(*state, &w);
    if (is_exchange(&w) || !w.graph) { /* whose steps state no work */
        destroy(&w);
        return;
    }
    const clf_launch_budget kept = w.context->budget;
    for (int round = 0; round < 4; round++) {
        const bool is_long = round % 2 == 1;
        const uint64_t before = device_launches(w.context);
        const double ns = 2.0 * GRAPH_STEP_SIZE * sizeof(int) / w.context->budget.bytes_per_ns;
        w.context->budget.limit_ns = is_long ? ns * (STEPS - 1) : 2 * ns * STEPS;
        w.context->budget.is_measured = true;
        assert_true(clfi_graph_begin(w.graph, NULL, 0));
        CHECK_OK(clfi_graph_end(w.graph, run(&w, STEPS)));
        check(&w);
        if (round > 0)
            check_launches(&w, before, !is_long, STEPS, "a graph and its budget");
    }
    w.context->budget = kept;
    destroy(&w);
}

/* Twice, the second time with parts and places that are known. */
static void test_steps(void **state)
{
    world w;
    create(*state, &w);
    for (int round = 0; round < 3; round++) {
        const uint64_t before = device_launches(w.context);
        assert_true(clfi_graph_begin(w.graph, NULL, 0));
        CHECK_OK(clfi_graph_end(w.graph, run(&w, STEPS)));
        check(&w);
        if (round > 0)
            check_launches(&w, before, w.graph, STEPS, "many steps");
    }
    destroy(&w);
}

/* Whether the device's graphs may have kernels that run as work-groups. */
static bool takes_groups(const world *w)
{
    return w->graph && w->context->device.caps.graph_group > 1;
}

/* Work-groups beside work-items in a graph: fewer than run at once and more, in all dimensions, and each more than one writes. */
static void test_groups(void **state)
{
    static const int grids[][3] = {{1, 1, 1}, {1, 2, 1}, {5, 3, 2}, {1, 1, 120}, {10, 6, 6}};
    for (size_t i = 0; i < COUNT(grids); i++) {
        const graph_step_shape shape = {{grids[i][0], grids[i][1], grids[i][2]}, graph_step_group_items(*state), 0};
        world w;
        create(*state, &w);
        w.shape = &shape;
        for (int round = 0; round < 3; round++) {
            const uint64_t before = device_launches(w.context);
            assert_true(clfi_graph_begin(w.graph, NULL, 0));
            CHECK_OK(clfi_graph_end(w.graph, run(&w, 49)));
            check(&w);
            if (round > 0)
                check_launches(&w, before, takes_groups(&w), 49, "groups");
        }
        destroy(&w);
    }
}

/* Groups of another size than a graph's, and such as need more local memory than it has: all happens, launch by launch. */
static void test_unfit_groups(void **state)
{
    const clf_context *context = *state;
    const int items = graph_step_group_items(context);
    const graph_step_shape fit = {{5, 3, 2}, items, 0}, unfit[] = {{{5, 3, 2}, items / 2, 0}, {{5, 3, 2}, items, CLFI_GRAPH_SPACE_BYTES}};
    for (size_t i = 0; i < COUNT(unfit); i++) {
        world w;
        if (context->device.caps.local_memory_bytes < (size_t)unfit[i].rest + 4096)
            continue;
        create(*state, &w);
        for (int round = 0; round < 3; round++) {
            const uint64_t before = device_launches(w.context);
            assert_true(clfi_graph_begin(w.graph, NULL, 0));
            w.shape = &fit;
            clf_status st = run(&w, 6);
            w.shape = round == 0 ? &unfit[i] : &fit;
            CHECK_OK(clfi_graph_end(w.graph, st != CLF_OK ? st : run(&w, 7)));
            check(&w);
            check_launches(&w, before, false, 13, "groups that are unfit, and after them");
        }
        destroy(&w);
    }
}

/* Two at once without waiting in between, and their buffers let go at once. */
static void test_released(void **state)
{
    world w;
    clf_buffer *kept;
    int got[GRAPH_STEP_SIZE];
    create(*state, &w);
    for (int round = 0; round < 2; round++) {
        assert_true(clfi_graph_begin(w.graph, NULL, 0));
        CHECK_OK(clfi_graph_end(w.graph, run(&w, 10)));
    }
    kept = clfi_buffer_retain(w.buffer[0]);
    clfi_buffer_release(w.buffer[0]);
    clfi_buffer_release(w.buffer[1]);
    CHECK_OK(clfi_buffer_read(kept, 0, got, sizeof got));
    CHECK(memcmp(got, w.host[0], sizeof got) == 0, "it begins with %d, expected %d", got[0], w.host[0][0]);
    w.buffer[0] = kept;
    w.buffer[1] = NULL;
    destroy(&w);
}

/* A kernel that cannot be part of a graph, one that does not compile as a part, and a transfer: all run in order, launch by launch. */
static void test_interruptions(void **state)
{
    static const char *const kernels[][2] = {{"alone.cl", "alone"}, {"refuses.cl", "refuses"}, {NULL, NULL}};
    for (size_t i = 0; i < COUNT(kernels); i++) {
        world w;
        create(*state, &w);
        assert_true(clfi_graph_begin(w.graph, NULL, 0));
        clf_status st = run(&w, 4); /* the last result is in buffer 0 */
        if (kernels[i][0]) {
            st = st != CLF_OK ? st : graph_step_simple(w.context, kernels[i][0], kernels[i][1], w.buffer[0]);
            for (int k = 0; k < GRAPH_STEP_SIZE; k++)
                w.host[0][k] *= 2;
        } else {
            memset(w.host[0], 1, sizeof w.host[0]);
            st = st != CLF_OK ? st : clfi_buffer_write(w.buffer[0], 0, w.host[0], sizeof w.host[0]);
        }
        CHECK_OK(clfi_graph_end(w.graph, st != CLF_OK ? st : run(&w, 5)));
        check(&w);
        const uint64_t before = device_launches(w.context);
        assert_true(clfi_graph_begin(w.graph, NULL, 0));
        CHECK_OK(clfi_graph_end(w.graph, run(&w, 6)));
        check(&w);
        CHECK(device_launches(w.context) == before + 6, "6 launches after a graph was off are %llu",
              (unsigned long long)(device_launches(w.context) - before));
        destroy(&w);
    }
}

/* Few launches are not worth a program of their own. */
static void test_few(void **state)
{
    world w;
    clf_context *context = *state;
    context->graphs = CLFI_GRAPHS_LONG;
    create(context, &w);
    const uint64_t before = device_launches(context);
    assert_true(clfi_graph_begin(w.graph, NULL, 0));
    CHECK_OK(clfi_graph_end(w.graph, run(&w, 5)));
    check(&w);
    CHECK(device_launches(context) == before + 5, "%llu launches", (unsigned long long)(device_launches(context) - before));
    context->graphs = CLFI_GRAPHS_ALWAYS;
    destroy(&w);
}

/* The first ten steps, recorded for a key. Returns whether they were recorded now. */
static bool run_for(world *w, int key)
{
    w->step = 0;
    const bool is_new = clfi_graph_begin(w->graph, &key, sizeof key);
    if (!is_new)
        expect(w, 10);
    CHECK_OK(clfi_graph_end(w->graph, is_new ? run(w, 10) : CLF_OK));
    check(w);
    return is_new;
}

static void check_repeats(world *w)
{
    static const int keys[] = {1, 1, 1, 2, 2, 1, 1};
    static const bool is_new[] = {true, false, false, true, false, true, false};
    const bool is_graph = w->graph && (!w->shape || takes_groups(w));
    for (size_t i = 0; i < COUNT(keys); i++) {
        const uint64_t before = device_launches(w->context);
        CHECK(run_for(w, keys[i]) == (is_new[i] || !is_graph), "turn %zu, key %d: expected %s", i, keys[i], is_new[i] ? "new" : "known");
        if (i > 0) /* the first asks where buffers lie */
            check_launches(w, before, is_graph, 10, "repeats");
        for (int k = 0; k < GRAPH_STEP_SIZE; k++)
            w->host[0][k] += k;
        CHECK_OK(clfi_buffer_write(w->buffer[0], 0, w->host[0], sizeof w->host[0]));
    }
}

/* While its key is the same, a recording is launched again, on what the buffers hold by then. */
static void test_repeats(void **state)
{
    const graph_step_shape shape = {{5, 3, 2}, graph_step_group_items(*state), 0};
    for (int has_groups = 0; has_groups < 2; has_groups++) {
        world w;
        create(*state, &w);
        w.shape = has_groups ? &shape : NULL;
        check_repeats(&w);
        destroy(&w);
    }
}

/* Not after an error or an interruption; and no key, or one that is too long, is never known. */
static void test_no_repeats(void **state)
{
    static const unsigned char long_key[CLFI_GRAPH_KEY_BYTES + 1];
    world w, other;
    create(*state, &w);
    if (w.graph) {
        other = w;
        assert_true(run_for(&w, 1));
        assert_true(clfi_graph_begin(w.graph, &(int){2}, sizeof(int)));
        CHECK_OK(run(&other, 3));
        CHECK_FAILS(clfi_graph_end(w.graph, clfi_fail(CLF_IO, "something else")), CLF_IO, "something else");
        assert_true(run_for(&w, 2));
        assert_false(clfi_graph_begin(w.graph, &(int){2}, sizeof(int)));
        CHECK_FAILS(clfi_graph_end(w.graph, clfi_fail(CLF_IO, "something else")), CLF_IO, "something else");
        check(&w);
        for (int i = 0; i < 2; i++) {
            assert_true(clfi_graph_begin(w.graph, long_key, i ? sizeof long_key : 0));
            CHECK_OK(clfi_graph_end(w.graph, run(&w, 10)));
        }
        check(&w);
        assert_true(run_for(&w, 1));
        assert_true(clfi_graph_begin(w.graph, &(int){3}, sizeof(int)));
        clf_status st = graph_step_simple(w.context, "alone.cl", "alone", w.buffer[0]);
        for (int k = 0; k < GRAPH_STEP_SIZE; k++)
            w.host[0][k] *= 2;
        CHECK_OK(clfi_graph_end(w.graph, st));
        check(&w);
        assert_true(run_for(&w, 3));
        assert_true(run_for(&w, 3));
    }
    destroy(&w);
}

/* Launches recorded before an error never run. */
static void test_error(void **state)
{
    world w, after;
    create(*state, &w);
    if (w.graph) {
        after = w;
        assert_true(clfi_graph_begin(w.graph, NULL, 0));
        CHECK_OK(run(&after, 3));
        CHECK_FAILS(clfi_graph_end(w.graph, clfi_fail(CLF_IO, "something else")), CLF_IO, "something else");
        check(&w);
        const clf_kernel_spec spec = clfi_kernel_spec("soft_cap.cl", "soft_cap");
        assert_true(clfi_graph_begin(w.graph, NULL, 0));
        clf_launch launch = clfi_launch(w.context, &spec);
        clfi_arg_buffer(&launch, w.buffer[0]);
        clfi_arg_float(&launch, 1);
        clfi_arg_int(&launch, INT64_C(1) << 40);
        CHECK_FAILS(clfi_graph_end(w.graph, clfi_launch_1d(&launch, 1, 1)), CLF_UNSUPPORTED,
                    "kernel soft_cap: argument 2: expected an integer of 32 bits, found 1099511627776");
        CHECK_OK(run(&w, 3)); /* and launches are launches again */
        check(&w);
    }
    destroy(&w);
}

static void test_lost(void **state)
{
    world w;
    create(*state, &w);
    if (w.graph) {
        volatile uint32_t *is_lost = (volatile uint32_t *)w.context->is_lost;
        *is_lost = 1;
        CHECK_FAILS(clf_context_finish(w.context), CLF_DEVICE, "work-groups at the same time");
        *is_lost = 0;
    }
    destroy(&w);
}

static clf_status run_and_probe(void *user)
{
    world *w = user;
    const bool is_new = clfi_graph_begin(w->graph, NULL, 0);
    assert_true(is_new);
    clf_status st = run(w, 4);
    for (clf_probe what = 0; what < CLFI_PROBE_COUNT; what++)
        clfi_probe_text(w->context, what);
    return clfi_graph_end(w->graph, st == CLF_OK ? run(w, 4) : st);
}

/* A device is probed beside what is recorded, which stays a graph; and in a rehearsal no more than the probe runs. */
static void test_probes(void **state)
{
    (void)state;
    for (int is_rehearsal = 0; is_rehearsal < 2; is_rehearsal++) {
        clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
        clf_context *context;
        world w, before;
        params.cache_dir = ""; /* so that it is probed */
        CHECK_OK(clf_context_create(&params, &context));
        create(context, &w);
        before = w;
        CHECK_OK(is_rehearsal ? clfi_rehearse(context, run_and_probe, &w) : run_and_probe(&w));
        if (is_rehearsal)
            memcpy(w.host, before.host, sizeof w.host);
        check(&w);
        if (w.graph) {
            memcpy(w.host, before.host, sizeof w.host);
            for (int i = 0; i < 2; i++)
                CHECK_OK(clfi_buffer_write(w.buffer[i], 0, w.host[i], sizeof w.host[i]));
            assert_true(run_for(&w, 1));
            assert_false(run_for(&w, 1)); /* as after an interruption it would not be */
        }
        destroy(&w);
        clf_context_destroy(context);
    }
}

/* If the device does not run all groups at once, none of them does anything. A GPU then tries one group for each unit. If that fails too,
 * the recorded launches run one by one. */
static void test_too_many_groups(void **state)
{
    clf_context *context = *state;
    const clf_device_caps caps = context->device.caps;
    const uint32_t many = (caps.graph_group > 1 ? 64 : 4) * caps.compute_units + 1;
    const graph_step_shape shape = {{10, 6, 6}, graph_step_group_items(context), 0};
    for (int is_second_complete = 0; is_second_complete < (caps.graph_group > 1 ? 2 : 1); is_second_complete++) {
        world w;
        if (caps.graph_groups)
            context->device.caps.graph_groups = many;
        create(context, &w);
        w.shape = caps.graph_group > 1 ? &shape : NULL;
        context->device.caps.compute_units = is_second_complete ? caps.compute_units : many;
        for (int i = 0; i < 3; i++) {
            const uint64_t before = device_launches(context);
            assert_true(clfi_graph_begin(w.graph, &i, sizeof i));
            CHECK_OK(clfi_graph_end(w.graph, run(&w, 10)));
            check(&w);
            if (i > 0) /* the first asks where buffers lie, and tries */
                CHECK(device_launches(context) == before + (is_second_complete ? 1 : 10), "%llu launches",
                      (unsigned long long)(device_launches(context) - before));
        }
        context->device.caps = caps;
        destroy(&w);
    }
}

/* A few long waits are nothing. Where they take more than a part of the time, launches go one by one. */
static void test_late(void **state)
{
    enum { TURNS = 70, LOST_WORD = 64, LATE_WORD = 32 }; /* as in cl/shared/graph_record.cl */
    world w;
    clf_context *context = *state;
    const uint32_t units = (uint32_t)context->device.caps.compute_units;
    create(context, &w);
    if (w.graph && units > 1) {
        volatile uint32_t *late = (volatile uint32_t *)context->is_lost - LOST_WORD + LATE_WORD;
        context->graphs = CLFI_GRAPHS_LONG;
        for (int i = 0; i < 4; i++) {
            const uint64_t before = device_launches(context);
            *late = i < 2 ? 5 * (units - 1) : 100000 * (units - 1); /* milliseconds of each unit but the one that was waited for */
            assert_true(clfi_graph_begin(w.graph, NULL, 0));
            CHECK_OK(clfi_graph_end(w.graph, run(&w, TURNS)));
            check(&w);
            if (i > 0) /* the first asks where buffers lie */
                check_launches(&w, before, i == 1, TURNS, "late groups");
        }
        *late = 0;
        context->graphs = CLFI_GRAPHS_ALWAYS;
    }
    destroy(&w);
}

static void test_switched_off(void **state)
{
    world w;
    clf_context *context = *state;
    const clf_graph_use before = context->graphs;
    context->graphs = CLFI_GRAPHS_NEVER;
    create(context, &w);
    context->graphs = before;
    assert_null(w.graph);
    assert_true(clfi_graph_begin(w.graph, NULL, 0));
    CHECK_OK(clfi_graph_end(w.graph, run(&w, 7)));
    check(&w);
    destroy(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changing_kernels),
        cmocka_unit_test(test_rehearsed_kernels),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_unfit_groups),
        cmocka_unit_test(test_released),
        cmocka_unit_test(test_interruptions),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_no_repeats),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_too_many_groups),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_switched_off),
    };
    setenv("CLF_GRAPH", "1", 1);
    return cmocka_run_group_tests_name("runtime.launch_graph", tests, device_setup, device_teardown);
}
