/* SPDX-License-Identifier: MIT */
/* Every tile that an engine's kernels can be built with, against double, with guards around the result; tiles that do not exist. */
#include <stdio.h>
#include <stdlib.h>

#include "clformer/linear.h"
#include "kernel/gemm_common.h"
#include "op/gemm.h"
#include "support/check.h"
#include "support/device.h"
#include "support/engines.h"
#include "support/operand.h"
#include "workload/reference_gemm.h"

typedef struct tile_case {
    int64_t batch, m, n, k;
    layout a, b, c;
    bool has_epilogue, is_small;
} tile_case;

/* Edges in both directions, also of the largest tiles; operands contiguous in either index. */
static const tile_case plain_cases[] = {
    {1, 19, 37, 21, LAYOUT_CONTIGUOUS, LAYOUT_CONTIGUOUS, LAYOUT_CONTIGUOUS, true, true},
    {2, 133, 140, 35, LAYOUT_REVERSED, LAYOUT_REVERSED, LAYOUT_SLICED, false, false},
};
static const tile_case lane_cases[] = {
    {20, 13, 11, 37, LAYOUT_REVERSED, LAYOUT_REVERSED, LAYOUT_REVERSED, false, true},
};

static operand create(clf_context *context, layout l, int64_t batch, int64_t rows, int64_t columns)
{
    return operand_create(context, CLF_F32, l, 3, (int64_t[]){batch, rows, columns});
}

static void check_result(const tile_case *one, const operand *a, const operand *b, const operand *bias, const operand *residual,
                         const operand *c, clf_precision precision, const char *id)
{
    const int64_t matrix = one->m * one->n;
    double *want = calloc((size_t)matrix, sizeof *want), *bound = calloc((size_t)matrix, sizeof *bound);
    assert_true(want && bound);
    for (int64_t i = 0; i < one->batch; i++) {
        clfi_ref_gemm_run(&(clfi_ref_gemm){.m = one->m, .n = one->n, .k = one->k, .alpha = 1,
                                           .activation = one->has_epilogue ? CLF_ACTIVATION_GELU : CLF_ACTIVATION_NONE,
                                           .a = a->value + i * one->m * one->k, .b = b->value + i * one->k * one->n,
                                           .bias = bias->value, .residual = residual->value, .precision = precision},
                          want, bound);
        operand_check(c, (size_t)(i * matrix), (size_t)matrix, want, bound, id);
    }
    free(bound);
    free(want);
}

static void check_case(clf_context *context, const char *engines, const tile_case *one)
{
    char id[192];
    rng r = {(uint64_t)(one->m * 131071 + one->n * 257 + one->k)};
    operand bias = {0}, residual = {0};
    clf_gemm_params params = CLF_GEMM_PARAMS_INIT;
    snprintf(id, sizeof id, "%s[%lld x %lldx%lldx%lld]", engines, (long long)one->batch, (long long)one->m, (long long)one->n,
             (long long)one->k);
    operand a = create(context, one->a, one->batch, one->m, one->k), b = create(context, one->b, one->batch, one->k, one->n);
    operand c = create(context, one->c, one->batch, one->m, one->n);
    operand_fill_uniform(&a, &r, -1, 1);
    operand_fill_uniform(&b, &r, -1, 1);
    if (one->has_epilogue) {
        bias = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, &one->n);
        residual = create(context, one->c, one->batch, one->m, one->n);
        operand_fill_uniform(&bias, &r, -1, 1);
        operand_fill_uniform(&residual, &r, -1, 1);
        params.bias = bias.tensor;
        params.residual = residual.tensor;
        params.activation = CLF_ACTIVATION_GELU;
    }
    if (clf_gemm(context, a.tensor, b.tensor, &params, c.tensor) != CLF_OK)
        fail_msg("%s: %s", id, clf_last_error());
    operand_read(&c, id);
    check_result(one, &a, &b, &bias, &residual, &c, context->precision, id);
    operand_destroy(&a);
    operand_destroy(&b);
    operand_destroy(&c);
    operand_destroy(&bias);
    operand_destroy(&residual);
}

/* Runs the cases with one tile; false: it does not fit this device, which the library says itself. */
static bool check_tile(const clf_engine *engine, const clf_tile *tile)
{
    clf_str text = CLF_STR_INIT;
    CHECK_OK(clfi_str_append_text(&text, "gemm="));
    CHECK_OK(clfi_engine_choice_text(engine, tile, &text));
    clf_context *context = precise_context(clfi_str_text(&text), engine->precision);
    const bool fits = clfi_engine_tile_fits(context, engine, tile), is_lanes = strcmp(engine->name, "interleaved") == 0;
    const tile_case *cases = is_lanes ? lane_cases : plain_cases;
    const size_t count = is_lanes ? COUNT(lane_cases) : COUNT(plain_cases);
    if (!fits) {
        clf_tensor *t;
        CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){2, 2}, &t));
        CHECK_FAILS(clf_gemm(context, t, t, NULL, t), CLF_UNSUPPORTED, "does not fit");
        clf_tensor_destroy(t);
    }
    for (size_t i = 0; fits && i < count; i++)
        if (cases[i].is_small || !only_small_cases())
            check_case(context, clfi_str_text(&text), &cases[i]);
    clf_context_destroy(context);
    clfi_str_free(&text);
    return fits;
}

/* Each value of each parameter beside the engine's own choice of the others, the later values as cases that implementations share; where
 * compiling takes long, the first value of each. CPUs compile barriers slowly. */
static void check_engine(clf_context *context, const char *name)
{
    const clf_engine *engine = clfi_engine_find(CLF_OP_GEMM, name);
    const bool has_barriers = strncmp(name, "tiled", 5) == 0;
    const bool is_slow = context->device.caps.slow_compiler || only_small_cases() || (has_barriers && context->device.caps.is_cpu);
    size_t fitting = 0, later = 0;
    assert_non_null(engine);
    assert_non_null(engine->tiling);
    for (size_t p = 0; p < engine->tiling->count; p++) {
        for (size_t v = 0; engine->tiling->parameters[p].values[v] && !(is_slow && v > 0); v++) {
            clf_tile tile = {{0}};
            if (v > 0 && !takes_case(later++, false))
                continue;
            CHECK_OK(clfi_engine_tile_set(engine, engine->tiling->parameters[p].name, engine->tiling->parameters[p].values[v], &tile));
            assert_int_equal(tile.value[p], engine->tiling->parameters[p].values[v]);
            fitting += check_tile(engine, &tile);
        }
    }
    CHECK(fitting > 0 && fitting + 2 > engine->tiling->count, "%s: only %zu tiles fit", name, fitting);
}

static void skip_slow_compiler(clf_context *context)
{
    if (context->device.caps.slow_compiler)
        skip();
}

static void test_packed(void **state)
{
    skip_slow_compiler(*state);
    check_engine(*state, "packed");
}

static void test_gemv(void **state)
{
    check_engine(*state, "gemv");
}

/* One parameter at a time, then the ends of all together. */
static void check_engine_and(clf_context *context, const char *name, const clf_tile *corners, size_t count)
{
    check_engine(context, name);
    for (size_t i = 0; i < count; i++)
        if (takes_case(i, i == 0))
            check_tile(clfi_engine_find(CLF_OP_GEMM, name), &corners[i]);
}

static void test_tiled(void **state)
{
    static const clf_tile corners[] = {
        {{8, 8, 8, 8, 16}}, {{8, 16, 8, 4, 8}}, {{16, 8, 4, 8, 16}}, {{8, 8, 4, 4, 32}}, {{16, 16, 8, 8, 8}}};
    check_engine_and(*state, "tiled", corners, COUNT(corners));
}

static void test_tiled_half(void **state)
{
    static const clf_tile corners[] = {{{8, 8, 8, 4, 8}}, {{8, 8, 4, 4, 16}}};
    clf_context_destroy(gemm_engine_context("gemm=tiled_half"));
    check_engine_and(*state, "tiled_half", corners, COUNT(corners));
}

static void test_interleaved(void **state)
{
    skip_slow_compiler(*state);
    check_engine(*state, "interleaved");
}

static void test_unknown(void **state)
{
    static const struct {
        const char *engines, *part;
    } wrong[] = {
        {"gemm=tiled:wg_m=7", "no kernels with wg_m = 7"},    {"gemm=tiled:wg_m=", "expected parameter=number"},
        {"gemm=tiled:wg_m", "expected parameter=number"},     {"gemm=tiled:wg_m=8x", "expected parameter=number"},
        {"gemm=tiled:rows=8", "has no parameter \"rows\""},   {"gemm=clblast:rows=8", "has no parameter \"rows\""},
        {"gemm=gemv:rows=-1", "expected parameter=number"},   {"gemm=gemv:rows=99999999999999999999", "expected parameter=number"},
        {"gemm=nothing:rows=8", "engine \"nothing\" for gemm is unknown"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        clf_context *context = engine_context(wrong[i].engines);
        clf_tensor *t;
        CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){2, 2}, &t));
        CHECK_FAILS(clf_gemm(context, t, t, NULL, t), CLF_INVALID_ARGUMENT, wrong[i].part);
        clf_tensor_destroy(t);
        clf_context_destroy(context);
    }
}

/* Kernels read the bias of a whole panel, of which the last may end behind the last column. */
static void test_bias_padding(void **state)
{
    (void)state;
    for (int64_t width = 4; width <= 16; width *= 2)
        for (int64_t panel = width; panel <= 4 * width; panel += width)
            for (int64_t n = 1; n <= 5000; n++)
                CHECK(clfi_gemm_padded_bias(n) >= (n + panel - 1) / panel * panel, "%lld columns in panels of %lld", (long long)n,
                      (long long)panel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed),      cmocka_unit_test(test_gemv),        cmocka_unit_test(test_tiled),
        cmocka_unit_test(test_tiled_half),  cmocka_unit_test(test_interleaved), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_bias_padding),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
