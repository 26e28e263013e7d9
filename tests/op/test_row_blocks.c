/* SPDX-License-Identifier: MIT */
/* Weights larger than one allocation, with a limit as small as the cases: embedding tables in blocks of rows, linear layers in pieces,
 * refusals. */
#include "support/check.h"
#include "support/device.h"
#include "support/engines.h"
#include "support/operand.h"

#include "op/embedding.h"
#include "op/linear.h"

static const clf_view *view(const operand *o)
{
    return clfi_tensor_view(o->tensor);
}

static void same_values(const char *id, const operand *got, const operand *want, double bound)
{
    for (size_t i = 0; i < want->count; i++)
        CHECK(within(got->value[i], want->value[i], bound), "%s at %zu: %.9g, want %.9g", id, i, got->value[i], want->value[i]);
}

/* The rows of an operand as blocks that end where `ends` says. */
static void cut(const operand *table, int count, const int64_t *ends, clf_view *blocks)
{
    for (int i = 0; i < count; i++) {
        const int64_t first = i ? ends[i - 1] : 0;
        blocks[i] = *view(table);
        blocks[i].dim[0] = ends[i] - first;
        blocks[i].offset += first * blocks[i].stride[0];
    }
}

static void test_embedding_in_blocks(void **state)
{
    static const int64_t ends0[] = {1, 40, 41, 97}, ends2[] = {3, 5}, tokens = 66, columns = 37, rows[] = {97, 12, 5};
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_EMBEDDING); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        operand table[3], ids[3], want = operand_create(context, CLF_F32, LAYOUT_SLICED, 2, (int64_t[]){tokens, columns});
        operand got = operand_create(context, CLF_F32, LAYOUT_SLICED, 2, (int64_t[]){tokens, columns});
        clf_view blocks0[4], blocks2[2];
        rng r = {7};
        for (int k = 0; k < 3; k++) {
            int32_t values[66];
            for (int64_t t = 0; t < tokens; t++)
                /* wild ones are clamped as without blocks */
                values[t] = t == 0 ? -1 : t == 1 ? INT32_MAX : (int32_t)rng_below(&r, rows[k]);
            table[k] = operand_create(context, k == 1 ? CLF_F16 : CLF_F32, LAYOUT_SLICED, 2, (int64_t[]){rows[k], columns});
            ids[k] = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, &tokens);
            operand_fill_uniform(&table[k], &r, -1, 1);
            operand_fill_ids(&ids[k], values);
        }
        cut(&table[0], 4, ends0, blocks0);
        cut(&table[2], 2, ends2, blocks2);
        const clf_embedding_term whole[] = {
            {view(&table[0]), view(&ids[0]), 1}, {view(&table[1]), view(&ids[1]), 1}, {view(&table[2]), NULL, 1}};
        const clf_embedding_term split[] = {{blocks0, view(&ids[0]), 4}, {view(&table[1]), view(&ids[1]), 1}, {blocks2, NULL, 2}};
        CHECK_OK(clfi_embedding_sum(context, whole, 3, 3, view(&want)));
        CHECK_OK(clfi_embedding_sum(context, split, 3, 3, view(&got)));
        operand_read(&want, *engine);
        operand_read(&got, *engine);
        same_values(*engine, &got, &want, 0);
        blocks0[2].dim[1]--;
        CHECK_FAILS(clfi_embedding_sum(context, split, 3, 3, view(&got)), CLF_INVALID_ARGUMENT, "table 0 is [1,36]");
        for (int k = 0; k < 3; k++) {
            operand_destroy(&table[k]);
            operand_destroy(&ids[k]);
        }
        operand_destroy(&want);
        operand_destroy(&got);
        clf_context_destroy(context);
    }
}

enum { K = 64, PARTS = 3, PART = 192, N = PARTS * PART, HEAD = 24 };

/* Rows of x: a tile of rows and some, or some alone where an interpreter runs. */
static int64_t row_count(void)
{
    return only_small_cases() ? 3 : 11;
}

static clf_linear *make(clf_context *context, const operand *weight, const operand *bias, uint64_t limit)
{
    clf_linear *linear = NULL;
    clf_view weights[PARTS], biases[PARTS];
    const uint64_t old = context->device.caps.max_allocation_bytes;
    for (int p = 0; p < PARTS; p++) {
        weights[p] = *view(&weight[p]);
        biases[p] = *view(&bias[p]);
    }
    context->device.caps.max_allocation_bytes = limit ? limit : old;
    const clf_status st = clfi_linear_create(context, PARTS, weights, biases, &linear);
    context->device.caps.max_allocation_bytes = old;
    if (st == CLF_UNSUPPORTED) /* an engine of another family */
        return NULL;
    CHECK_OK(st);
    assert_int_equal(clfi_linear_out_features(linear), N);
    return linear;
}

static void run(clf_context *context, const clf_linear *linear, const operand *x, const operand *residual, operand *flat, operand *heads)
{
    CHECK_OK(clfi_linear_run(context, linear, view(x), CLF_ACTIVATION_GELU, view(residual), view(flat)));
    CHECK_OK(clfi_linear_run(context, linear, view(x), CLF_ACTIVATION_NONE, NULL, view(heads)));
    operand_read(flat, "flat");
    operand_read(heads, "heads");
}

static void test_linear_in_pieces(void **state)
{
    /* 160 rows and panels; 63 more than 240 rows; a limit that the whole weight just misses */
    static const uint64_t limits[] = {160 * K * 4, (240 + 63) * K * 4, (N + 62) * K * 4};
    const int64_t m = row_count();
    int made = 0;
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_GEMM); *engine; engine++) {
        clf_context *context = gemm_context(*engine);
        rng r = {1};
        operand weight[PARTS], bias[PARTS], x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){m, K});
        operand residual = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){m, N});
        operand flat[2], heads[2];
        for (int i = 0; i < 2; i++) {
            flat[i] = operand_create(context, CLF_F32, LAYOUT_SLICED, 2, (int64_t[]){m, N});
            heads[i] = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){N / HEAD, m, HEAD});
        }
        for (int p = 0; p < PARTS; p++) {
            weight[p] = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){PART, K});
            bias[p] = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, (int64_t[]){PART});
            operand_fill_uniform(&weight[p], &r, -1, 1);
            operand_fill_uniform(&bias[p], &r, -1, 1);
        }
        operand_fill_uniform(&x, &r, -1, 1);
        operand_fill_uniform(&residual, &r, -1, 1);
        clf_linear *whole = make(context, weight, bias, 0);
        made += whole != NULL;
        if (whole)
            run(context, whole, &x, &residual, &flat[0], &heads[0]);
        for (size_t i = 0; whole && i < COUNT(limits); i++) {
            clf_linear *pieces = make(context, weight, bias, limits[i]);
            operand_spoil(&flat[1]);
            operand_spoil(&heads[1]);
            /* Column blocks of 24 do not fit pieces of 64 rows, those of 240 and 192 they do. */
            if (limits[i] < (uint64_t)PART * K * 4) {
                CHECK_OK(clfi_linear_run(context, pieces, view(&x), CLF_ACTIVATION_GELU, view(&residual), view(&flat[1])));
                operand_read(&flat[1], "flat");
            } else {
                run(context, pieces, &x, &residual, &flat[1], &heads[1]);
                same_values(*engine, &heads[1], &heads[0], 2 * (K + 2) * 0x1p-24 * (K + 1));
            }
            same_values(*engine, &flat[1], &flat[0], 4 * (K + 4) * 0x1p-24 * (K + 1));
            clfi_linear_destroy(pieces);
        }
        clfi_linear_destroy(whole);
        for (int p = 0; p < PARTS; p++) {
            operand_destroy(&weight[p]);
            operand_destroy(&bias[p]);
        }
        for (int i = 0; i < 2; i++) {
            operand_destroy(&flat[i]);
            operand_destroy(&heads[i]);
        }
        operand_destroy(&x);
        operand_destroy(&residual);
        clf_context_destroy(context);
    }
    CHECK(made > 0, "no engine takes %d weights", PARTS);
}

static void test_refusals(void **state)
{
    clf_context *context = *state;
    const uint64_t old = context->device.caps.max_allocation_bytes;
    const int64_t m = row_count();
    clf_linear *linear = NULL;
    operand weight = operand_create(context, CLF_F32, LAYOUT_REVERSED, 2, (int64_t[]){128, K}),
            x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){m, K});
    operand heads = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){4, m, 32});
    clf_buffer *buffer = NULL;
    context->device.caps.max_allocation_bytes = 4 * K - 1; /* less than a row */
    CHECK_FAILS(clfi_linear_create(context, 1, view(&weight), NULL, &linear), CLF_OUT_OF_MEMORY, "linear: rows of 256 bytes");
    CHECK(strstr(clf_last_error(), "largest allocation is 255 bytes"), "%s", clf_last_error());
    assert_null(linear);
    CHECK_FAILS(clfi_buffer_create(context, 4 * K, &buffer), CLF_OUT_OF_MEMORY, "largest allocation is 255");
    assert_null(buffer);
    context->device.caps.max_allocation_bytes = (63 + 17) * K * 4; /* pieces of 16 rows, or 64 where nothing is padded */
    CHECK_OK(clfi_linear_create(context, 1, view(&weight), NULL, &linear));
    context->device.caps.max_allocation_bytes = old;
    const bool fits = !clfi_linear_is_packed(linear);
    const clf_status st = clfi_linear_run(context, linear, view(&x), CLF_ACTIVATION_NONE, NULL, view(&heads));
    CHECK(fits ? st == CLF_OK : st == CLF_UNSUPPORTED && strstr(clf_last_error(), "expected multiples of the block of 32"), "%s",
          clf_last_error());
    clfi_linear_destroy(linear);
    operand_destroy(&weight);
    operand_destroy(&x);
    operand_destroy(&heads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_embedding_in_blocks), cmocka_unit_test(test_linear_in_pieces),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("op.row_blocks", tests, device_setup, device_teardown);
}
