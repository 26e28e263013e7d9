/* SPDX-License-Identifier: MIT */
/* GEMM engines `bytes`, `byte_pairs` and `byte_quads` for CPU devices. They multiply quantised weights in bundles by rows of A, which they
 * first round to integers of one, two or four bytes, with one scale for each group of 32 columns. One or two bytes err by up to 1/254 or
 * 1/65024 of a group's largest number. Four bytes keep every bit of numbers of at least 2^-6 of the largest, and others err by up to 2^-30
 * of it: less than a sum of float32 products loses. `byte_quads` suits few rows; for more, turning the weights into floats costs less. */
#include "kernel/gemm_bundles.h"

enum {
    GROUP = 32,
    FEW_ROWS = 2,    /* most rows that suit four bytes */
    WIDE_SUMS = 16,  /* vectors of sums that a tile keeps in registers of 16 words */
    NARROW_SUMS = 4, /* the same for registers of 8 words */
};

bool clfi_gemm_bytes_supports(const clf_context *context, const void *call)
{
    return context->device.caps.has_byte_dot && clfi_gemm_takes_gate(call);
}

bool clfi_gemm_byte_quads_supports(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    return clfi_gemm_bytes_supports(context, call) && (!args->gate || args->m <= FEW_ROWS);
}

bool clfi_gemm_byte_quads_suits(const clf_context *context, const void *call)
{
    (void)context;
    return ((const clf_gemm_args *)call)->m <= FEW_ROWS;
}

/* The number that makes integers of a type unsigned when it is added to them; negative: it is subtracted. */
static int zero_of(const clf_context *context, clf_weight_type type)
{
    switch (type) {
    case CLF_WEIGHT_Q8_0:
        return 128;
    case CLF_WEIGHT_Q6_K:
        return context->device.caps.narrow_byte_dot ? 32 : 128;
    case CLF_WEIGHT_Q4_0:
        return 8;
    case CLF_WEIGHT_Q5_0:
        return 16;
    default:
        return 0;
    }
}

/* Words of a group beside its integers: cl/cpu/byte_rows.cl. */
static int64_t scale_words(int64_t bytes)
{
    return bytes == 4 ? 8 : 4;
}

/* A as bytes, with its scales. */
typedef struct byte_rows {
    int64_t bytes, plane; /* bytes of an integer; distance in bytes from one byte of an integer to the next */
    clf_region q, scales;
} byte_rows;

static clf_status round_rows(clf_context *context, const clf_gemm_args *args, byte_rows *out)
{
    const int64_t groups = args->k / GROUP;
    const bool is_joined = args->weight->blocks != CLF_WEIGHT_Q6_K;
    const int zero = zero_of(context, args->weight->blocks);
    const uint32_t form = CLFI_GEMM_INPUT_BYTES | (uint32_t)(out->bytes << 16 | is_joined << 8 | zero);
    out->plane = args->m * args->k;
    if (args->input && args->input->form == form) {
        out->q = args->input->region[0];
        out->scales = args->input->region[1];
        return CLF_OK;
    }
    clf_gemm_operand a = args->a;
    CLF_TRY(clfi_arena_alloc(context, (size_t)(out->bytes * out->plane), &out->q));
    CLF_TRY(clfi_arena_alloc(context, (size_t)(args->m * groups * scale_words(out->bytes)) * sizeof(float), &out->scales));
    if (a.dtype != CLF_F32 || a.column_stride != 1)
        CLF_TRY(clfi_gemm_pack_dense(context, args, &args->a, args->m, args->k, &a));
    clf_kernel_spec spec = clfi_kernel_spec("byte_rows.cl", "byte_rows");
    clfi_spec_int(&spec, "BYTES", out->bytes);
    clfi_spec_int(&spec, "SCALE_WORDS", scale_words(out->bytes));
    clfi_spec_int(&spec, "IS_JOINED", is_joined);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, a.buffer);
    clfi_arg_long(&launch, a.offset);
    clfi_arg_long(&launch, a.row_stride);
    clfi_arg_int(&launch, args->k);
    clfi_arg_int(&launch, zero);
    clfi_arg_buffer(&launch, out->q.buffer);
    clfi_arg_long(&launch, (int64_t)out->q.offset_bytes);
    clfi_arg_long(&launch, out->plane);
    clfi_arg_buffer(&launch, out->scales.buffer);
    clfi_arg_long(&launch, (int64_t)(out->scales.offset_bytes / sizeof(float)));
    if (args->input)
        *args->input = (clf_gemm_input){form, {out->q, out->scales}};
    return clfi_launch_2d(&launch, (size_t)groups, (size_t)args->m, 1, 1);
}

/* Rows of a tile: as many as registers hold sums for. */
static int64_t tile_rows(const clf_gemm_args *args, int64_t bytes, int64_t vectors, bool is_narrow)
{
    const clf_weight_type type = args->weight->blocks;
    const bool has_two = is_narrow ? type == CLF_WEIGHT_Q6_K || type == CLF_WEIGHT_Q8_0 : type == CLF_WEIGHT_Q6_K && bytes == 4;
    int64_t rows = (is_narrow ? NARROW_SUMS : WIDE_SUMS) / vectors / bytes / (has_two ? 2 : 1);
    while (rows > args->m)
        rows /= 2;
    return rows > 0 ? rows : 1;
}

static clf_status multiply(clf_context *context, const clf_gemm_args *args, const byte_rows *a)
{
    const bool is_narrow = context->device.caps.narrow_byte_dot;
    const int64_t vectors = is_narrow && !args->gate && args->m > 1 ? 1 : 2, columns = args->gate ? 1 : vectors;
    const int64_t rows = tile_rows(args, a->bytes, vectors, is_narrow), bundles = (args->n + CLFI_BUNDLE - 1) / CLFI_BUNDLE;
    clf_kernel_spec spec = clfi_kernel_spec("gemm_bundles_bytes.cl", "gemm_bundles_bytes");
    clfi_gemm_spec_tile(&spec, args, rows, vectors);
    clfi_spec_int(&spec, "BYTES", a->bytes);
    clfi_spec_int(&spec, "IS_NARROW_DOT", is_narrow);
    clfi_spec_int(&spec, "SCALE_WORDS", scale_words(a->bytes));
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_arg_buffer(&launch, a->q.buffer);
    clfi_arg_long(&launch, (int64_t)a->q.offset_bytes);
    clfi_arg_long(&launch, a->plane);
    clfi_arg_buffer(&launch, a->scales.buffer);
    clfi_arg_long(&launch, (int64_t)(a->scales.offset_bytes / sizeof(float)));
    clfi_arg_buffer(&launch, args->weight->buffer);
    clfi_arg_buffer(&launch, args->gate ? args->gate->buffer : args->weight->buffer);
    clfi_gemm_arg_result(&launch, args);
    clfi_gemm_work(&launch, args);
    return clfi_launch_2d(&launch, (size_t)((args->m + rows - 1) / rows), (size_t)((bundles + columns - 1) / columns), 1, 1);
}

static clf_status run(clf_context *context, const clf_gemm_args *args, int64_t bytes)
{
    byte_rows a = {.bytes = bytes};
    CLF_TRY(round_rows(context, args, &a));
    return multiply(context, args, &a);
}

clf_status clfi_gemm_bytes_run(clf_context *context, const void *call)
{
    return run(context, call, 1);
}

clf_status clfi_gemm_byte_pairs_run(clf_context *context, const void *call)
{
    return run(context, call, 2);
}

clf_status clfi_gemm_byte_quads_run(clf_context *context, const void *call)
{
    return run(context, call, 4);
}
