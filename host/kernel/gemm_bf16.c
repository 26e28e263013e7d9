/* SPDX-License-Identifier: MIT */
/* GEMM engines on a CPU's unit for bfloat16 numbers: `bf16` multiplies one such number for each element, `bf16_pairs` sums of two. Both
 * take any strides and storage types, and quantised weights in bundles, which they expand. */
#include "kernel/bf16_blocks.h"
#include "kernel/gemm_bundles.h"
#include "kernel/weight_rows.h"

enum {
    VECTOR = 16,
    GROUP_ROWS = 4,            /* blocks of rows of a work-item: they use a panel of B from the second-level cache */
    MOST_PANELS = 8,           /* of a work-item */
    GROUP_BYTES = 1024 * 1024, /* of both operands of a work-item */
    GROUPS_PER_UNIT = 3,
    BUNDLED_ROWS = 64,                /* from so many rows on, expanding quantised weights takes less time than the unit gains */
    EXPANDED_BYTES = 32 * 1024 * 1024 /* of quantised weights that are expanded at a time */
};

static bool is_bundled(const clf_gemm_args *args)
{
    return args->weight && args->weight->form == CLFI_GEMM_BUNDLES;
}

bool clfi_gemm_bf16_supports(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    return clfi_matrix_unit_is_cpu(context->device.caps.matrix_unit) && !args->gate && (!is_bundled(args) || args->m >= BUNDLED_ROWS);
}

/* Blocks of rows and panels of a work-item: as many as the cache holds, but few enough to divide the work between the compute units. */
typedef struct group_size {
    int64_t rows, panels;
} group_size;

static group_size choose_groups(const clf_context *context, const clf_gemm_args *args, int64_t panels, int most_parts)
{
    const int64_t block_bytes = clfi_ceil_div(args->k, CLFI_BF16_LINES) * CLFI_BF16_LINES * CLFI_BF16_LINES * 2 * most_parts;
    const int64_t row_blocks = clfi_ceil_div(args->m, CLFI_BF16_LINES);
    const int64_t wanted = GROUPS_PER_UNIT * (int64_t)context->device.caps.compute_units, batches = clfi_gemm_batch_count(args);
    const int64_t fitting = GROUP_BYTES / block_bytes - GROUP_ROWS;
    group_size size = {GROUP_ROWS, fitting < 1 ? 1 : fitting > MOST_PANELS ? MOST_PANELS : fitting};
    while (size.panels > 1 && clfi_ceil_div(row_blocks, size.rows) * clfi_ceil_div(panels, size.panels) * batches < wanted)
        size.panels /= 2;
    while (size.rows > 1 && clfi_ceil_div(row_blocks, size.rows) * panels * batches < wanted)
        size.rows /= 2;
    return size;
}

/* A in blocks: made for this product, or kept by an earlier one of the same A. */
static clf_status pack_a(clf_context *context, const clf_gemm_args *args, int parts, clf_gemm_operand *out)
{
    const uint32_t form = CLFI_GEMM_INPUT_BF16 | (uint32_t)parts;
    if (args->input && args->input->form == form) {
        const clf_region *kept = &args->input->region[0];
        *out = (clf_gemm_operand){.buffer = kept->buffer, .offset = (int64_t)(kept->offset_bytes / sizeof(uint32_t))};
        return CLF_OK;
    }
    clf_region region;
    CLF_TRY(clfi_gemm_pack_bf16(context, args, false, parts, &region, out));
    if (args->input)
        *args->input = (clf_gemm_input){form, {region}};
    return CLF_OK;
}

/* B in blocks: panels begin .. end of 32 columns. */
typedef struct b_blocks {
    clf_gemm_operand at;
    int parts;
    int64_t begin, end;
} b_blocks;

static int64_t panels_of(const clf_gemm_args *args)
{
    return clfi_ceil_div(args->n, CLFI_BF16_LINES);
}

static clf_status multiply(clf_context *context, const clf_gemm_args *args, const clf_gemm_operand *a, int a_parts, const b_blocks *b)
{
    const clf_device_caps *caps = &context->device.caps;
    const group_size size = choose_groups(context, args, b->end - b->begin, a_parts > b->parts ? a_parts : b->parts);
    clf_kernel_spec spec = clfi_kernel_spec("gemm_bf16.cl", "gemm_bf16");
    clfi_spec_matrix_unit(&spec, caps->matrix_unit, caps->emulates_matrix_unit);
    clfi_gemm_spec_types(&spec, args, VECTOR);
    clfi_spec_int(&spec, "A_PARTS", a_parts);
    clfi_spec_int(&spec, "B_PARTS", b->parts);
    clfi_spec_int(&spec, "IS_C_VECTOR", clfi_gemm_is_c_vector(args, VECTOR));
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_arg_buffer(&launch, a->buffer);
    clfi_arg_long(&launch, a->offset);
    clfi_gemm_arg_batch_stride(&launch, args, a->batch_stride);
    clfi_arg_buffer(&launch, b->at.buffer);
    clfi_arg_long(&launch, b->at.offset);
    clfi_gemm_arg_batch_stride(&launch, args, b->at.batch_stride);
    clfi_arg_int(&launch, b->begin);
    clfi_arg_int(&launch, b->end);
    clfi_arg_int(&launch, size.rows);
    clfi_arg_int(&launch, size.panels);
    clfi_gemm_arg_result(&launch, args);
    clfi_gemm_work(&launch, args);
    const size_t groups[3] = {(size_t)clfi_ceil_div(b->end - b->begin, size.panels),
                              (size_t)clfi_ceil_div(clfi_ceil_div(args->m, CLFI_BF16_LINES), size.rows),
                              (size_t)clfi_gemm_batch_count(args)};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){1, 1, 1});
}

/* Expands the panels of a quantised weight. */
static clf_status expand(clf_context *context, const clf_gemm_args *args, const b_blocks *to)
{
    const clf_gemm_weight *weight = args->weight;
    clf_kernel_spec spec = clfi_kernel_spec("bundle_bf16.cl", "bundle_bf16");
    clfi_spec_int(&spec, "WIDTH", VECTOR);
    clfi_spec_blocks(&spec, weight->blocks);
    clfi_spec_int(&spec, "PARTS", to->parts);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, clfi_ceil_div(weight->n, CLFI_BUNDLE));
    clfi_arg_int(&launch, weight->k);
    clfi_arg_int(&launch, to->begin * (CLFI_BF16_LINES / CLFI_BUNDLE));
    clfi_arg_buffer(&launch, weight->buffer);
    clfi_arg_buffer(&launch, to->at.buffer);
    clfi_arg_long(&launch, to->at.offset);
    const double weights = (double)((to->end - to->begin) * CLFI_BF16_LINES) * (double)weight->k;
    clfi_launch_work(&launch, weights, (1.0 + 2.0 * to->parts) * weights);
    return clfi_launch_1d(&launch, (size_t)((to->end - to->begin) * (CLFI_BF16_LINES / CLFI_BUNDLE)), 1);
}

/* Panels of quantised weights that are expanded at a time. *out_words: the size of one. False: it overflows. */
static bool panels_at_a_time(const clf_gemm_args *args, int parts, int64_t *out_words, int64_t *out)
{
    const int64_t panels = panels_of(args);
    if (!clfi_bf16_words(CLFI_BF16_LINES, args->k, parts, out_words))
        return false;
    const int64_t fitting = EXPANDED_BYTES / (int64_t)sizeof(uint32_t) / *out_words;
    *out = fitting < 1 ? 1 : fitting > panels ? panels : fitting;
    return true;
}

/* Expands quantised weights and multiplies by them, some panels at a time, so that little memory is needed. */
static clf_status multiply_bundles(clf_context *context, const clf_gemm_args *args, const clf_gemm_operand *a, int a_parts, int parts)
{
    const int64_t panels = panels_of(args);
    int64_t words, step;
    clf_region region;
    if (!panels_at_a_time(args, parts, &words, &step))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "gemm: rows of %lld weights: not enough memory", (long long)args->k);
    CLF_TRY(clfi_arena_alloc(context, (size_t)(step * words) * sizeof(uint32_t), &region));
    b_blocks b = {.at = {.buffer = region.buffer, .offset = (int64_t)(region.offset_bytes / sizeof(uint32_t))}, .parts = parts};
    for (b.begin = 0; b.begin < panels; b.begin = b.end) {
        b.end = b.begin + step < panels ? b.begin + step : panels;
        CLF_TRY(expand(context, args, &b));
        CLF_TRY(multiply(context, args, a, a_parts, &b));
    }
    return CLF_OK;
}

static clf_status run(clf_context *context, const clf_gemm_args *args, int parts)
{
    const int a_parts = clfi_bf16_parts(args->a.dtype, parts);
    b_blocks b = {.end = panels_of(args)};
    clf_gemm_operand a;
    clf_region region;
    CLF_TRY(pack_a(context, args, a_parts, &a));
    if (is_bundled(args))
        return multiply_bundles(context, args, &a, a_parts, parts);
    if (args->weight) {
        b.parts = clfi_gemm_weight_parts(args->weight);
        b.at = (clf_gemm_operand){.buffer = args->weight->buffer, .offset = args->weight->offset};
    } else {
        b.parts = clfi_bf16_parts(args->b.dtype, parts);
        CLF_TRY(clfi_gemm_pack_bf16(context, args, true, b.parts, &region, &b.at));
    }
    return multiply(context, args, &a, a_parts, &b);
}

clf_status clfi_gemm_bf16_run(clf_context *context, const void *args)
{
    return run(context, args, 1);
}

clf_status clfi_gemm_bf16_pairs_run(clf_context *context, const void *args)
{
    return run(context, args, 2);
}

static uint64_t scratch(const clf_gemm_args *args, int parts)
{
    int64_t a_words, words = 0, step = 0;
    if (!clfi_bf16_words(args->m, args->k, clfi_bf16_parts(args->a.dtype, parts), &a_words) ||
        (is_bundled(args) && !panels_at_a_time(args, parts, &words, &step)))
        return UINT64_MAX / 4;
    return ((uint64_t)a_words + (uint64_t)(step * words)) * sizeof(uint32_t);
}

uint64_t clfi_gemm_bf16_scratch(const clf_gemm_args *args)
{
    return scratch(args, 1);
}

uint64_t clfi_gemm_bf16_pairs_scratch(const clf_gemm_args *args)
{
    return scratch(args, 2);
}
