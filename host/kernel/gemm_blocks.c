/* SPDX-License-Identifier: MIT */
/* GEMM engine `blocks` for any device: quantised weights as they are stored. Kernels for few rows of A multiply them without decoding. For
 * more rows, a slice of the weight at a time is decoded to floats, which the engine `tiled` multiplies. */
#include "kernel/gemm_common.h"
#include "kernel/loops.h"
#include "kernel/weight_rows.h"

#include <string.h>

enum {
    PIECE = 32, /* weights, as in block_pieces.cl */
    FEW_ROWS = 16,
    ITEM_SUMS = 6,      /* most sums of an item with few registers */
    SCATTERED_SUMS = 2, /* the same for an item that reads A element by element */
    GROUP = 128,
    SMALL_GROUP = 64, /* where a device allows no larger one */
    LANES = 32,
    LEAST_LANES = 16,
    SLICE_BYTES = 32 << 20
};

bool clfi_gemm_blocks_supports(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    if (!clfi_gemm_takes_gate(args) || (args->gate && args->m > FEW_ROWS) || !clfi_loops_fit(context, args->k / 4) ||
        context->device.caps.max_work_group_size < SMALL_GROUP)
        return false;
    clf_gemm_args floats = *args;
    floats.weight = floats.gate = NULL;
    return clfi_gemm_tiled_supports(context, &floats);
}

clf_status clfi_gemm_pack_weight_blocks(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight)
{
    const size_t bytes = (size_t)(from->dim[0] * weight->row_stride);
    cl_int code = CL_SUCCESS;
    if (from->stride[0] != weight->row_stride)
        CLF_FAIL(CLF_INTERNAL, "linear: rows of blocks: expected adjacent rows");
    if (bytes)
        code = clEnqueueCopyBuffer(context->queue, from->buffer->memory, weight->buffer->memory, (size_t)from->offset,
                                   (size_t)(first * weight->row_stride), bytes, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        return clfi_context_fail(context, code, CLF_DEVICE, "linear: copying %zu bytes of weights: clEnqueueCopyBuffer", bytes);
    return CLF_OK;
}

/* `columns` columns of the result are shared by `lanes` of the `group` items of a work-group. */
typedef struct shares {
    int columns, group, lanes;
} shares;

/* An item computes several columns, which share its reads of A: as many as its registers hold, if that leaves enough items for the device.
 * Long rows are shared by more items. */
static shares share_few(const clf_context *context, const clf_gemm_args *args)
{
    enum { ITEMS_PER_UNIT = 128, LONG_ROW = 8192 };
    const clf_device_caps *caps = &context->device.caps;
    const int weights = args->m > 2 || !caps->many_registers ? 1 : args->m > 1 || args->weight->blocks == CLF_WEIGHT_Q6_K ? 2 : 4;
    const int group = clfi_graph_group_or(caps, caps->max_work_group_size < GROUP ? SMALL_GROUP : GROUP);
    shares s = {args->gate ? weights / 2 : weights, group, args->k < LONG_ROW ? LANES : 2 * LANES};
    while (s.columns > 1 && args->n / s.columns * LANES < (int64_t)caps->compute_units * ITEMS_PER_UNIT)
        s.columns /= 2;
    while (s.lanes > LEAST_LANES && s.lanes / 2 * PIECE >= args->k)
        s.lanes /= 2;
    s.columns = s.columns ? s.columns : 1;
    s.lanes = s.lanes < s.group ? s.lanes : s.group;
    return s;
}

/* Rows of A for which an item has sums. If m is larger, several work-groups get about equally many rows. */
static int64_t share_rows(const clf_context *context, const clf_gemm_args *args, bool has_vectors)
{
    const int64_t sums = has_vectors ? ITEM_SUMS : SCATTERED_SUMS;
    const int64_t most = context->device.caps.many_registers ? FEW_ROWS : args->gate ? sums / 2 : sums;
    const int64_t groups = (args->m + most - 1) / most;
    return (args->m + groups - 1) / groups;
}

/* Whether all blocks begin at multiples of 16 bytes, as buffers do. */
static bool is_aligned(const clf_gemm_weight *weight)
{
    enum { ALIGNMENT = 16 };
    return weight->row_stride % ALIGNMENT == 0 && weight->offset % ALIGNMENT == 0 &&
           clfi_weight_type_info(weight->blocks)->block_bytes % ALIGNMENT == 0;
}

static clf_status run_few(clf_context *context, const clf_gemm_args *args)
{
    const bool is_f32 = args->a.dtype == CLF_F32;
    const char *reads = is_f32 ? clfi_gemm_reads(args, &args->a, args->a.column_stride, args->a.row_stride, 4) : "ELEMENTS";
    const int64_t rows = share_rows(context, args, strcmp(reads, "ELEMENTS") != 0);
    const clf_gemm_weight *weight = args->weight, *second = args->gate ? args->gate : weight;
    const shares s = share_few(context, args);
    clf_kernel_spec spec = clfi_kernel_spec("gemm_blocks.cl", "gemm_blocks");
    clfi_gemm_spec_result(&spec, args, 1);
    clfi_spec_dtype(&spec, "A", args->a.dtype);
    clfi_spec_blocks(&spec, weight->blocks);
    clfi_spec_int(&spec, "ROWS", rows);
    clfi_spec_int(&spec, "WG", s.group);
    clfi_spec_int(&spec, "LANES", s.lanes);
    clfi_spec_int(&spec, "COLUMNS", s.columns);
    clfi_spec_int(&spec, "IS_ALIGNED", is_aligned(weight) && is_aligned(second));
    clfi_spec_int(&spec, "IS_GATED", args->gate != NULL);
    clfi_spec_int(&spec, "IS_UNROLLED", args->m == 1 && !args->gate && context->device.caps.many_registers);
    clfi_spec_text(&spec, "A_READS", reads);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_arg_buffer(&launch, args->a.buffer);
    clfi_arg_long(&launch, args->a.offset);
    clfi_arg_long(&launch, args->a.row_stride);
    clfi_arg_long(&launch, args->a.column_stride);
    clfi_arg_buffer(&launch, weight->buffer);
    clfi_arg_long(&launch, weight->offset);
    clfi_arg_buffer(&launch, second->buffer);
    clfi_arg_long(&launch, second->offset);
    clfi_arg_long(&launch, weight->row_stride);
    clfi_gemm_arg_result(&launch, args);
    clfi_gemm_work(&launch, args);
    const int64_t columns = s.group / s.lanes * s.columns; /* of a group */
    const int64_t groups = (args->n + columns - 1) / columns * ((args->m + rows - 1) / rows);
    return clfi_launch_1d(&launch, (size_t)groups, (size_t)s.group);
}

/* Writes rows first .. first + slice->dim[0] of the weight to `slice` as floats. */
static clf_status decode(clf_context *context, const clf_gemm_weight *stored, int64_t first, const clf_view *slice)
{
    const clf_view table = {.buffer = stored->buffer,
                            .dtype = CLF_U8,
                            .blocks = stored->blocks,
                            .rank = 2,
                            .dim = {slice->dim[0], stored->k},
                            .stride = {stored->row_stride, 1},
                            .offset = stored->offset + first * stored->row_stride};
    const clf_embedding_term term = {&table, NULL, 1};
    const clf_embedding_args args = {.terms = &term, .block = {{0, slice->dim[0]}}, .count = 1, .scale = 1.0f, .y = slice};
    return clfi_weight_rows_run(context, &args);
}

/* Rows of the weight that are decoded at a time: a multiple of the column block. */
static int64_t slice_rows(const clf_gemm_args *args)
{
    const int64_t unit = args->column_block ? args->column_block : 64;
    const int64_t fit = SLICE_BYTES / (int64_t)sizeof(float) / args->k / unit * unit;
    return fit > unit ? fit : unit;
}

static clf_status run_many(clf_context *context, const clf_gemm_args *args)
{
    const int64_t step = slice_rows(args), most = args->n < step ? args->n : step;
    clf_view floats;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){most, args->k}, &floats));
    for (int64_t first = 0; first < args->n; first += step) {
        clf_gemm_args slice = *args;
        slice.n = floats.dim[0] = args->n - first < step ? args->n - first : step;
        const clf_gemm_weight weight = {.form = CLFI_GEMM_ROWS,
                                        .dtype = CLF_F32,
                                        .n = slice.n,
                                        .k = args->k,
                                        .buffer = floats.buffer,
                                        .offset = floats.offset,
                                        .row_stride = args->k};
        slice.weight = &weight;
        slice.bias.offset += first;
        slice.residual.offset += first * args->residual.column_stride;
        slice.c.offset += args->column_block ? first / args->column_block * args->block_stride : first * args->c.column_stride;
        CLF_TRY(decode(context, args->weight, first, &floats));
        CLF_TRY(clfi_gemm_tiled_run(context, &slice));
    }
    return CLF_OK;
}

clf_status clfi_gemm_blocks_run(clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = args->m <= FEW_ROWS ? run_few(context, args) : run_many(context, args);
    clfi_arena_release(context, mark);
    return st;
}
