/* SPDX-License-Identifier: MIT */
/* The ops of the benchmark's catalogue: every quick workload but the largest products, on every engine that it names, verified against
 * float64 and run once. */
#include <stdlib.h>

#include "op/engines.h"
#include "runtime/context.h"
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"
#include "workload/verdict.h"
#include "workload/workload.h"

/* Workloads that an interpreter can do. Engines that multiply in tiles of 64 rows cost it minutes; test_gemm.c has them. */
static const double small_flops = 4e5, small_bytes = 5e5;

static int chain_of(const clfi_workload *workload)
{
    return (int)json_integer_value(json_object_get(workload->work, "chain"));
}

static bool is_small(const clfi_workload *workload)
{
    return strcmp(workload->op, "gemm") != 0 && workload->flops / chain_of(workload) <= small_flops &&
           workload->bytes / chain_of(workload) <= small_bytes;
}

/* Returns whether the engine could run it. */
static bool check_engine(const clfi_workload *workload, clf_context *context, const char *engine)
{
    void *state = NULL;
    clfi_verdict verdict = {0};
    clfi_sample sample = {0};
    const clf_status st = workload->type->prepare(workload, context, engine, &state);
    if (st == CLF_UNSUPPORTED) {
        workload->type->release(state);
        return false;
    }
    CHECK(st == CLF_OK, "%s on %s: %s", workload->id, engine, clf_last_error());
    CHECK(workload->type->verify(state, &verdict) == CLF_OK, "%s on %s: %s", workload->id, engine, clf_last_error());
    CHECK(verdict.passed && verdict.error <= verdict.bound && (verdict.bound > 0 || workload->flops <= 0),
          "%s on %s: error %.3g, bound %.3g", workload->id, engine, verdict.error, verdict.bound);
    if (!only_small_cases()) {
        CHECK(workload->type->run(state, &sample) == CLF_OK, "%s on %s: %s", workload->id, engine, clf_last_error());
        CHECK(sample.wall_ns > 0, "%s on %s: no time", workload->id, engine);
        CHECK(context->profile ? sample.device_ns != 0 : sample.device_ns < 0, "%s on %s: device time %g", workload->id, engine,
              sample.device_ns);
        CHECK(workload->type->verify(state, &verdict) == CLF_OK && verdict.passed, "%s on %s: another result after a run", workload->id,
              engine);
    }
    workload->type->release(state);
    return true;
}

static int check_workload(const clfi_workload *workload, clf_context *context)
{
    clfi_engine_list list = {.count = 0};
    int ran = 0;
    const clf_status st = workload->type->engines(workload, context, &list);
    if (st == CLF_UNSUPPORTED && json_object_get(workload->work, "precision"))
        return 0; /* the device has no engine of that precision */
    CHECK(st == CLF_OK, "%s: %s", workload->id, clf_last_error());
    for (size_t i = 0; i < list.count; i++)
        ran += check_engine(workload, context, list.names[i]);
    CHECK(ran > 0, "%s: none of %zu engines can run it", workload->id, list.count);
    return ran;
}

static void test_quick(void **state)
{
    clfi_workload_list list = {0};
    int ran = 0;
    CHECK_OK(clfi_op_workloads(&list, true));
    for (size_t i = 0; i < list.count; i++)
        if (takes_case(i, is_small(&list.items[i])) && list.items[i].flops / chain_of(&list.items[i]) <= 2e8)
            ran += check_workload(&list.items[i], *state);
    assert_true(ran > 0);
    clfi_workload_list_free(&list);
}

/* Weights that are stored in 16 bits: a part of the whole list, where the work says so; the small products are computed. */
static void test_storage(void **state)
{
    clfi_workload_list list = {0};
    int ran = 0, kinds = 0;
    size_t stored = 0;
    CHECK_OK(clfi_op_workloads(&list, false));
    for (size_t i = 0; i < list.count; i++) {
        const clfi_workload *one = &list.items[i];
        const char *weights = json_string_value(json_object_get(one->work, "weights"));
        CHECK(!weights == !strstr(one->id, "-weights/"), "%s: weights in %s", one->id, weights ? weights : "f32");
        if (!weights)
            continue;
        kinds |= strcmp(weights, "f16") == 0 ? 1 : strcmp(weights, "bf16") == 0 ? 2 : 4;
        if (one->flops / chain_of(one) <= 2e7 && takes_case(stored++, false))
            ran += check_workload(one, *state);
    }
    CHECK(kinds == 3 && (ran > 0 || only_small_cases()), "kinds %d, %d ran", kinds, ran);
    clfi_workload_list_free(&list);
}

/* Times by events, where the device has them. */
static void test_profiled(void **state)
{
    clfi_workload_list list = {0};
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context;
    (void)state;
    params.profile = 1;
    CHECK_OK(clf_context_create(&params, &context));
    CHECK_OK(clfi_op_workloads(&list, true));
    size_t first = 0;
    while (only_small_cases() && !is_small(&list.items[first]))
        first++;
    check_workload(&list.items[first], context);
    clfi_workload_list_free(&list);
    clf_context_destroy(context);
}

/* The catalogue describes each piece of work once, and the quick list is a part of the whole. */
static void test_catalogue(void **state)
{
    clfi_workload_list all = {0}, quick = {0};
    (void)state;
    CHECK_OK(clfi_op_workloads(&all, false));
    CHECK_OK(clfi_op_workloads(&quick, true));
    for (size_t i = 0; i < all.count; i++) {
        const clfi_workload *one = &all.items[i];
        CHECK(chain_of(one) >= 1 && one->bytes > 0 && json_object_get(one->work, "seed") && strcmp(one->suite, "ops") == 0, "%s", one->id);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(one->id, all.items[j].id) != 0 && !json_equal(one->work, all.items[j].work), "%s is there twice", one->id);
    }
    for (size_t i = 0; i < quick.count; i++) {
        size_t at = 0;
        while (at < all.count && strcmp(all.items[at].id, quick.items[i].id) != 0)
            at++;
        CHECK(at < all.count && json_equal(all.items[at].work, quick.items[i].work), "%s is not in the whole list", quick.items[i].id);
    }
    assert_true(quick.count > 0 && quick.count < all.count);
    clfi_workload_list_free(&all);
    clfi_workload_list_free(&quick);
}

/* The self-test has a workload for every engine table, each of its workloads once, and none that a benchmark has. */
static void test_small_catalogue(void **state)
{
    clfi_workload_list list = {0}, all = {0};
    (void)state;
    CHECK_OK(clfi_small_workloads(&list));
    CHECK_OK(clfi_op_workloads(&all, false));
    for (size_t i = 0; i < list.count; i++) {
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(list.items[i].id, list.items[j].id) != 0, "%s is there twice", list.items[i].id);
        for (size_t j = 0; j < all.count; j++)
            CHECK(strcmp(list.items[i].id, all.items[j].id) != 0, "%s is measured too", list.items[i].id);
    }
    for (int op = 0; op < CLF_OP_COUNT; op++) {
        size_t found = 0;
        for (size_t i = 0; i < list.count; i++)
            found += list.items[i].table == &clfi_engine_tables[op];
        CHECK(found > 0, "no workload for the engines of %s", clfi_engine_tables[op].op);
    }
    clfi_workload_list_free(&list);
    clfi_workload_list_free(&all);
}

/* Nothing that can run on this device is left untested: every engine is offered a case, at the precision that it keeps. */
static void test_every_engine_has_a_case(void **state)
{
    clfi_workload_list list = {0};
    (void)state;
    CHECK_OK(clfi_small_workloads(&list));
    for (int op = 0; op < CLF_OP_COUNT; op++) {
        for (size_t e = 0; e < clfi_engine_tables[op].count; e++) {
            const clf_engine *engine = &clfi_engine_tables[op].engines[e];
            clf_context *context = precise_context("", engine->precision);
            bool is_offered = clfi_engine_obstacle(context, engine) != NULL;
            for (size_t i = 0; !is_offered && i < list.count; i++) {
                clfi_engine_list offered = {.count = 0};
                if (list.items[i].table != &clfi_engine_tables[op])
                    continue;
                CHECK_OK(list.items[i].type->engines(&list.items[i], context, &offered));
                for (size_t k = 0; k < offered.count; k++)
                    is_offered |= strcmp(offered.names[k], engine->name) == 0;
            }
            CHECK(is_offered, "the self-test has no case for %s=%s", clfi_engine_tables[op].op, engine->name);
            clf_context_destroy(context);
        }
    }
    clfi_workload_list_free(&list);
}

/* A workload's peer does as much work, and is right. */
static void check_peer(const clfi_workload *workload, clf_context *context)
{
    clfi_workload_list list = {0};
    clfi_engine_list engines;
    clfi_verdict verdict = {0};
    void *peer = NULL;
    CHECK(workload->peer(workload, &list) == CLF_OK && list.count == 1, "%s: %s", workload->id, clf_last_error());
    const clfi_workload *beside = &list.items[0];
    if (beside->flops > 0)
        CHECK(beside->flops == workload->flops && chain_of(beside) == chain_of(workload), "%s: %g operations beside %g", workload->id,
              beside->flops, workload->flops);
    else
        CHECK(beside->bytes <= workload->bytes && beside->bytes > workload->bytes - 2 * 4096 * chain_of(workload), "%s: %g bytes beside %g",
              workload->id, beside->bytes, workload->bytes);
    if (is_small(workload)) {
        CHECK_OK(beside->type->engines(beside, context, &engines));
        CHECK(beside->type->prepare(beside, context, engines.names[0], &peer) == CLF_OK, "%s: %s", beside->id, clf_last_error());
        CHECK(beside->type->verify(peer, &verdict) == CLF_OK && verdict.passed, "%s: error %g", beside->id, verdict.error);
        beside->type->release(peer);
    }
    clfi_workload_list_free(&list);
}

static void test_peers(void **state)
{
    clfi_workload_list list = {0};
    int copies = 0, products = 0;
    CHECK_OK(clfi_op_workloads(&list, false));
    for (size_t i = 0; i < list.count; i++) {
        if (!list.items[i].peer)
            continue;
        check_peer(&list.items[i], *state);
        copies += list.items[i].flops <= 0;
        products += list.items[i].flops > 0;
    }
    assert_true(copies > 0 && products > 0);
    clfi_workload_list_free(&list);
}

static void test_verdict(void **state)
{
    clfi_verdict verdict = CLFI_VERDICT_INIT;
    (void)state;
    clfi_verdict_add(&verdict, 1, 1.5, 1);
    clfi_verdict_add(&verdict, 2, 2.125, 1);
    assert_true(verdict.passed && verdict.error == 0.5 && verdict.bound == 1);
    clfi_verdict_add(&verdict, 3, 1, 1);
    assert_true(!verdict.passed && verdict.error == 2);
    verdict = (clfi_verdict)CLFI_VERDICT_INIT;
    clfi_verdict_add(&verdict, (double)NAN, 1, 1);
    clfi_verdict_add(&verdict, 1, 1, 1);
    assert_true(!verdict.passed && isnan(verdict.error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdict),         cmocka_unit_test(test_catalogue),
        cmocka_unit_test(test_small_catalogue), cmocka_unit_test(test_every_engine_has_a_case),
        cmocka_unit_test(test_peers),           cmocka_unit_test(test_quick),
        cmocka_unit_test(test_storage),         cmocka_unit_test(test_profiled),
    };
    return cmocka_run_group_tests_name("workloads", tests, device_setup_optimised, device_teardown);
}
