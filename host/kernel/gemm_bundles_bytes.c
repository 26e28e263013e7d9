/* SPDX-License-Identifier: MIT */
/* GEMM engines `bytes` and `byte_pairs` for CPU devices: quantised weights in bundles times rows of A that are rounded to integers of one
 * or two bytes first, 32 columns to a scale. The error of a product is that of rounding A: up to 1/254 or 1/65024 of the largest. */
#include "kernel/gemm_bundles.h"

enum { GROUP = 32, TILE_ROWS = 8 };

bool clfi_gemm_bytes_supports(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const clf_gemm_weight *gate = args->gate;
    if (!context->device.caps.has_byte_dot || !args->weight || args->weight->form != CLFI_GEMM_BUNDLES || args->batch_rank != 0)
        return false;
    return !gate || (gate->form == CLFI_GEMM_BUNDLES && gate->blocks == args->weight->blocks && !gate->bias && !args->residual.buffer);
}

/* The number that makes integers of a type unsigned when it is added to them; negative: it is subtracted. */
static int zero_of(clf_weight_type type)
{
    switch (type) {
    case CLF_WEIGHT_Q8_0:
    case CLF_WEIGHT_Q6_K:
        return 128;
    case CLF_WEIGHT_Q4_0:
        return 8;
    case CLF_WEIGHT_Q5_0:
        return 16;
    default:
        return 0;
    }
}

/* A as bytes, with its scales. */
typedef struct byte_rows {
    int64_t bytes, plane; /* of an integer; from its first byte to its second */
    clf_region q, scales;
} byte_rows;

static clf_status round_rows(clf_context *context, const clf_gemm_args *args, byte_rows *out)
{
    const int64_t groups = args->k / GROUP;
    out->plane = args->m * args->k;
    clf_gemm_operand a = args->a;
    CLF_TRY(clfi_arena_alloc(context, (size_t)(out->bytes * out->plane), &out->q));
    CLF_TRY(clfi_arena_alloc(context, (size_t)(args->m * groups) * 4 * sizeof(float), &out->scales));
    if (a.dtype != CLF_F32 || a.column_stride != 1)
        CLF_TRY(clfi_gemm_pack_dense(context, args, &args->a, args->m, args->k, &a));
    clf_kernel_spec spec = clfi_kernel_spec("byte_rows.cl", "byte_rows");
    clfi_spec_int(&spec, "BYTES", out->bytes);
    clfi_spec_int(&spec, "IS_JOINED", args->weight->blocks != CLF_WEIGHT_Q6_K);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, a.buffer);
    clfi_arg_long(&launch, a.offset);
    clfi_arg_long(&launch, a.row_stride);
    clfi_arg_int(&launch, args->k);
    clfi_arg_int(&launch, zero_of(args->weight->blocks));
    clfi_arg_buffer(&launch, out->q.buffer);
    clfi_arg_long(&launch, (int64_t)out->q.offset_bytes);
    clfi_arg_long(&launch, out->plane);
    clfi_arg_buffer(&launch, out->scales.buffer);
    clfi_arg_long(&launch, (int64_t)(out->scales.offset_bytes / (4 * sizeof(float))));
    return clfi_launch_2d(&launch, (size_t)groups, (size_t)args->m, 1, 1);
}

static clf_status multiply(clf_context *context, const clf_gemm_args *args, const byte_rows *a)
{
    int64_t rows = TILE_ROWS / a->bytes;
    while (rows > args->m)
        rows /= 2;
    const int64_t vectors = 2, columns = args->gate ? 1 : vectors, bundles = (args->n + CLFI_BUNDLE - 1) / CLFI_BUNDLE;
    clf_kernel_spec spec = clfi_kernel_spec("gemm_bundles_bytes.cl", "gemm_bundles_bytes");
    clfi_gemm_spec_tile(&spec, args, rows, vectors);
    clfi_spec_int(&spec, "BYTES", a->bytes);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_arg_buffer(&launch, a->q.buffer);
    clfi_arg_long(&launch, (int64_t)a->q.offset_bytes);
    clfi_arg_long(&launch, a->plane);
    clfi_arg_buffer(&launch, a->scales.buffer);
    clfi_arg_long(&launch, (int64_t)(a->scales.offset_bytes / (4 * sizeof(float))));
    clfi_arg_buffer(&launch, args->weight->buffer);
    clfi_arg_buffer(&launch, args->gate ? args->gate->buffer : args->weight->buffer);
    clfi_gemm_arg_result(&launch, args);
    clfi_gemm_work(&launch, args);
    return clfi_launch_2d(&launch, (size_t)((args->m + rows - 1) / rows), (size_t)((bundles + columns - 1) / columns), 1, 1);
}

static clf_status run(clf_context *context, const clf_gemm_args *args, int64_t bytes)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    byte_rows a = {.bytes = bytes};
    clf_status st = round_rows(context, args, &a);
    if (st == CLF_OK)
        st = multiply(context, args, &a);
    clfi_arena_release(context, mark);
    return st;
}

clf_status clfi_gemm_bytes_run(clf_context *context, const void *call)
{
    return run(context, call, 1);
}

clf_status clfi_gemm_byte_pairs_run(clf_context *context, const void *call)
{
    return run(context, call, 2);
}
