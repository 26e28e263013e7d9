/* SPDX-License-Identifier: MIT */
/* Checks matrix products, brings them to a simple form, runs an engine, and implements the public clf_gemm. */
#include "op/gemm.h"

#include <limits.h>
#include <string.h>

#include "base/options.h"
#include "kernel/gemm_common.h"
#include "op/check.h"
#include "op/left_out.h"

static clf_status check_operand(const char *what, const clf_gemm_operand *operand, const clf_gemm_args *args)
{
    if (!clfi_dtype_is_float(operand->dtype))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "gemm: %s is %s, expected float32, float16 or bfloat16", what, clf_dtype_name(operand->dtype));
    bool is_negative = operand->offset < 0 || operand->row_stride < 0 || operand->column_stride < 0;
    for (int i = 0; i < args->batch_rank; i++)
        is_negative = is_negative || operand->batch_stride[i] < 0;
    if (is_negative)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "gemm: %s has a negative offset or stride", what);
    return CLF_OK;
}

static clf_status check(const clf_gemm_args *args)
{
    if (args->batch_rank < 0 || args->batch_rank > CLFI_GEMM_MAX_BATCH)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "gemm: %d batch dimensions, expected 0 to %d", args->batch_rank, CLFI_GEMM_MAX_BATCH);
    if ((unsigned)args->activation >= CLF_ACTIVATION_COUNT)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "gemm: activation %d is unknown", (int)args->activation);
    int64_t sizes[3 + CLFI_GEMM_MAX_BATCH] = {args->m, args->n, args->k}, batches = 1;
    memcpy(sizes + 3, args->batch, (size_t)args->batch_rank * sizeof sizes[0]);
    for (int i = 0; i < 3 + args->batch_rank; i++)
        if (sizes[i] < 0 || sizes[i] > INT_MAX - 1024)
            CLF_FAIL(sizes[i] < 0 ? CLF_INVALID_ARGUMENT : CLF_UNSUPPORTED, "gemm: a size is %lld, expected 0 to %d", (long long)sizes[i],
                     INT_MAX - 1024);
    for (int i = 0; i < args->batch_rank; i++)
        if (__builtin_mul_overflow(batches, args->batch[i], &batches) || batches > INT_MAX)
            CLF_FAIL(CLF_UNSUPPORTED, "gemm: more than 2^31 - 1 batches");
    CLF_TRY(check_operand("a", &args->a, args));
    if (!args->weight)
        CLF_TRY(check_operand("b", &args->b, args));
    CLF_TRY(check_operand("c", &args->c, args));
    if (args->residual.buffer)
        CLF_TRY(check_operand("residual", &args->residual, args));
    if (args->bias.buffer)
        CLF_TRY(check_operand("bias", &args->bias, args));
    if (args->column_block < 0 || args->block_stride < 0 || (args->column_block > 0 && args->n % args->column_block != 0))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "gemm: column blocks of %lld do not divide %lld columns", (long long)args->column_block,
                 (long long)args->n);
    if (args->weight && (args->weight->n != args->n || args->weight->k != args->k))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "gemm: the weight is %lld x %lld, expected %lld x %lld", (long long)args->weight->k,
                 (long long)args->weight->n, (long long)args->k, (long long)args->n);
    return CLF_OK;
}

static bool continues(const clf_gemm_operand *operand, int outer, int inner, int64_t inner_size)
{
    return operand->batch_stride[outer] == operand->batch_stride[inner] * inner_size;
}

/* Drops batch dimensions of size 1 and joins neighbours that every operand steps through evenly. */
static void join_batches(clf_gemm_args *args)
{
    clf_gemm_operand *const operands[] = {&args->a, &args->b, &args->c, &args->residual};
    int rank = 0;
    for (int i = 0; i < args->batch_rank; i++) {
        if (args->batch[i] == 1)
            continue;
        bool joins = rank > 0;
        for (size_t o = 0; o < COUNT(operands); o++)
            joins = joins && continues(operands[o], rank - 1, i, args->batch[i]);
        const int to = joins ? rank - 1 : rank++;
        args->batch[to] = joins ? args->batch[to] * args->batch[i] : args->batch[i];
        for (size_t o = 0; o < COUNT(operands); o++)
            operands[o]->batch_stride[to] = operands[o]->batch_stride[i];
    }
    args->batch_rank = rank;
}

static void transpose(clf_gemm_operand *operand)
{
    const int64_t row_stride = operand->row_stride;
    operand->row_stride = operand->column_stride;
    operand->column_stride = row_stride;
}

/* c = a b with rows of c contiguous instead of columns is c^T = b^T a^T with columns contiguous, which all engines write faster. */
static void prefer_contiguous_columns(clf_gemm_args *args)
{
    if (args->c.column_stride == 1 || args->c.row_stride != 1 || args->m == 1 || args->bias.buffer || args->weight ||
        args->column_block > 0)
        return;
    const clf_gemm_operand a = args->a;
    const int64_t m = args->m;
    args->a = args->b;
    args->b = a;
    args->m = args->n;
    args->n = m;
    transpose(&args->a);
    transpose(&args->b);
    transpose(&args->c);
    transpose(&args->residual);
}

/* The engines read the bias as padded f32. */
static clf_status normalise_bias(clf_context *context, clf_gemm_args *args)
{
    clf_region region;
    if (!args->bias.buffer || (args->weight && args->bias.buffer == args->weight->bias))
        return CLF_OK;
    const int64_t padded = clfi_gemm_padded_bias(args->n);
    CLF_TRY(clfi_arena_alloc(context, (size_t)padded * sizeof(float), &region));
    const int64_t offset = (int64_t)(region.offset_bytes / sizeof(float));
    CLF_TRY(clfi_gemm_pack_bias(context, &args->bias, args->n, padded, region.buffer, offset));
    args->bias = (clf_gemm_operand){.buffer = region.buffer, .dtype = CLF_F32, .offset = offset, .column_stride = 1};
    return CLF_OK;
}

/* If an engine was left out after a weight was packed for it, possibly no other engine reads the weight's form. */
static clf_status choose(const clf_context *context, const clf_gemm_args *args, clf_engine_choice *out)
{
    const clf_status st = clfi_gemm_choose(context, args, out);
    if (st != CLF_UNSUPPORTED || !args->weight || !context->unbuilt)
        return st;
    return clfi_fail_prefix(st, "weights are packed for an engine that no longer works on the device (load them again for another engine)");
}

static clf_status run(clf_context *context, clf_gemm_args *args)
{
    clf_engine_choice choice;
    clf_status st;
    bool was_lost;
    CLF_TRY(normalise_bias(context, args));
    do {
        CLF_TRY(choose(context, args, &choice));
        if (args->k == 0)
            return clfi_gemm_epilogue(context, args, NULL, 1);
        clf_gemm_args call = *args;
        call.weight = clfi_gemm_weight_for(choice.engine->gemm, args->weight);
        call.gate = clfi_gemm_weight_for(choice.engine->gemm, args->gate);
        call.tile = choice.tile;
        st = clfi_engine_start(context, choice.engine, &call, &was_lost);
    } while (was_lost);
    context->stats.product_precisions |= 1u << choice.engine->precision;
    return st;
}

static void simplify(clf_gemm_args *args)
{
    /* The stride of a dimension of size 1 has no meaning; 1 lets the contiguous cases match. */
    if (args->n == 1 && args->column_block == 0)
        args->c.column_stride = args->residual.column_stride = 1;
    join_batches(args);
    prefer_contiguous_columns(args);
}

clf_status clfi_gemm(clf_context *context, const clf_gemm_args *args)
{
    clf_gemm_args simple = *args;
    CLF_TRY(check(args));
    if (args->m == 0 || args->n == 0 || clfi_gemm_batch_count(args) == 0)
        return CLF_OK;
    simplify(&simple);
    const clf_arena_mark mark = clfi_arena_top(context);
    const uint32_t form = args->input ? args->input->form : 0;
    const clf_status st = run(context, &simple);
    if (!args->input || args->input->form == form)
        clfi_arena_release(context, mark);
    return st;
}

clf_status clfi_gemm_engine_name(const clf_context *context, const clf_gemm_args *args, const char **out)
{
    clf_engine_choice choice;
    clf_gemm_args simple = *args;
    CLF_TRY(check(args));
    simplify(&simple);
    CLF_TRY(clfi_gemm_choose(context, &simple, &choice));
    *out = choice.engine->name;
    return CLF_OK;
}

/* The last two axes are the matrix; leading axes align with c's at the right, size 1 or a missing axis repeats. */
static clf_status operand_of(const char *what, const clf_view *view, const clf_view *c, int64_t rows, int64_t columns,
                             clf_gemm_operand *out)
{
    char have[CLFI_SHAPE_TEXT_BYTES], want[CLFI_SHAPE_TEXT_BYTES];
    *out = (clf_gemm_operand){.buffer = view->buffer, .dtype = view->dtype, .offset = view->offset};
    bool fits = view->rank >= 2 && view->rank <= c->rank && view->dim[view->rank - 2] == rows && view->dim[view->rank - 1] == columns;
    for (int i = 0; fits && i < view->rank - 2; i++) {
        const int at = i + c->rank - view->rank;
        fits = view->dim[i] == c->dim[at] || view->dim[i] == 1;
        out->batch_stride[at] = view->dim[i] == 1 ? 0 : view->stride[i];
    }
    if (!fits)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "gemm: %s is %s, expected [..., %lld, %lld] with leading sizes of c, %s", what,
                 clfi_shape_text(view->rank, view->dim, have), (long long)rows, (long long)columns, clfi_shape_text(c->rank, c->dim, want));
    out->row_stride = view->stride[view->rank - 2];
    out->column_stride = view->stride[view->rank - 1];
    return CLF_OK;
}

CLFI_OPTIONS(clf_gemm_params, CLF_GEMM_PARAMS_INIT)

clf_status clf_gemm(clf_context *context, const clf_tensor *a, const clf_tensor *b, const clf_gemm_params *given, clf_tensor *c)
{
    clf_gemm_params params;
    clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
    CLF_TRY(clf_gemm_params_read(given, &params));
    CLF_TRY(clfi_tensor_check(context, "a", a));
    CLF_TRY(clfi_tensor_check(context, "b", b));
    CLF_TRY(clfi_tensor_check(context, "c", c));
    const clf_view *av = clfi_tensor_view(a), *bv = clfi_tensor_view(b), *cv = clfi_tensor_view(c);
    if (av->rank < 2 || cv->rank < 2 || cv->rank > 2 + CLFI_GEMM_MAX_BATCH)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "gemm: ranks %d and %d of a and c, expected 2 to %d", av->rank, cv->rank, 2 + CLFI_GEMM_MAX_BATCH);
    args.batch_rank = cv->rank - 2;
    memcpy(args.batch, cv->dim, (size_t)args.batch_rank * sizeof args.batch[0]);
    args.m = cv->dim[cv->rank - 2];
    args.n = cv->dim[cv->rank - 1];
    args.k = av->dim[av->rank - 1];
    args.alpha = params.alpha;
    args.activation = params.activation;
    CLF_TRY(operand_of("a", av, cv, args.m, args.k, &args.a));
    CLF_TRY(operand_of("b", bv, cv, args.k, args.n, &args.b));
    CLF_TRY(operand_of("c", cv, cv, args.m, args.n, &args.c));
    CLF_TRY(clfi_check_writable("gemm", "c", cv));
    if (params.residual) {
        CLF_TRY(clfi_tensor_check(context, "residual", params.residual));
        CLF_TRY(clfi_check_same_shape("gemm", "residual", clfi_tensor_view(params.residual), "c", cv));
        CLF_TRY(operand_of("residual", clfi_tensor_view(params.residual), cv, args.m, args.n, &args.residual));
    }
    if (params.bias) {
        CLF_TRY(clfi_tensor_check(context, "bias", params.bias));
        const clf_view *bias = clfi_tensor_view(params.bias);
        if (bias->rank != 1 || bias->dim[0] != args.n)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "gemm: bias of rank %d, expected [%lld]", bias->rank, (long long)args.n);
        args.bias =
            (clf_gemm_operand){.buffer = bias->buffer, .dtype = bias->dtype, .offset = bias->offset, .column_stride = bias->stride[0]};
    }
    return clfi_gemm(context, &args);
}
