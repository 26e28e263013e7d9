/* SPDX-License-Identifier: MIT */
/* GEMM engine `bundles` for CPU devices: quantised weights, 16 rows interleaved. Kernels for few rows of A multiply them without
 * decoding. For more rows, some columns at a time are decoded to panels of floats. The engine `packed` multiplies a panel while it is in
 * the cache. */
#include "base/alloc.h"
#include "kernel/gemm_bundles.h"
#include "kernel/gemm_panel.h"
#include "kernel/weight_rows.h"

enum {
    BUNDLE = CLFI_BUNDLE,
    FEW_ROWS = 24,        /* up to this many rows, weights are multiplied as they are stored */
    GATED_ROWS = 4,       /* most rows with a gate */
    TILE_ROWS = 8,        /* most rows of a tile where A is read in place */
    PANEL_ROWS = 16,      /* rows of a tile where A is packed into panels, because it has more rows than a tile in place */
    NARROW_IN_PLACE = 2,  /* most rows in place if a bundle is several vectors: more sums do not fit into registers */
    NARROW_ROWS = 4,      /* rows of a panel whose sums are in registers at once there */
    NARROW_FEW = 96,      /* FEW_ROWS there: weights become floats while rows are multiplied, which costs little */
    SLICE_BYTES = 2 << 20 /* size of the floats that are unpacked at a time */
};

/* Whether a bundle is wider than a vector of the processor. */
static bool has_narrow_vectors(const clf_context *context)
{
    return context->device.caps.vector_width < BUNDLE;
}

static int64_t rows_in_place(const clf_context *context)
{
    return has_narrow_vectors(context) ? NARROW_IN_PLACE : TILE_ROWS;
}

/* Rows of A up to which weights are read as they are stored, and not unpacked first. */
static int64_t few_rows(const clf_context *context)
{
    return has_narrow_vectors(context) ? NARROW_FEW : FEW_ROWS;
}

/* Floats are unpacked into panels of whole bundles. */
static clf_tile unpacked_tile(const clf_context *context)
{
    return (clf_tile){.value[CLFI_PANEL_VECTORS] = has_narrow_vectors(context) ? BUNDLE / context->device.caps.vector_width : 0};
}

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Bytes of one block from each of 16 rows, in the layout of cl/shared/weight_bundles.cl. */
static int64_t unit_bytes(clf_weight_type type)
{
    const clf_weight_type_info *info = clfi_weight_type_info(type);
    const int64_t stored = (int64_t)info->block_bytes * BUNDLE;
    switch (type) {
    case CLF_WEIGHT_Q6_K: /* integers of a byte */
        return 2 * BUNDLE + 8 * (2 * BUNDLE + 32 * BUNDLE);
    case CLF_WEIGHT_Q4_K:
    case CLF_WEIGHT_Q5_K: /* scales of a byte: 16 for the 12 bytes of a block */
        return stored + 4 * BUNDLE;
    default:
        return stored;
    }
}

bool clfi_gemm_bundles_supports(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    return !context->device.caps.slow_compiler && clfi_gemm_takes_gate(args) &&
           (!args->gate || (args->m <= GATED_ROWS && args->m <= rows_in_place(context)));
}

clf_status clfi_gemm_pack_weight_bundles(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight)
{
    clf_kernel_spec spec = clfi_kernel_spec("bundle_pack.cl", "bundle_pack");
    clfi_spec_blocks(&spec, weight->blocks);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, from->dim[0]);
    clfi_arg_int(&launch, weight->k / clfi_weight_type_info(weight->blocks)->block_weights);
    clfi_arg_buffer(&launch, from->buffer);
    clfi_arg_long(&launch, from->offset);
    clfi_arg_long(&launch, from->stride[0]);
    clfi_arg_buffer(&launch, weight->buffer);
    clfi_arg_int(&launch, first);
    const int64_t begin = first / BUNDLE, end = (first + from->dim[0] + BUNDLE - 1) / BUNDLE;
    return from->dim[0] ? clfi_launch_1d(&launch, (size_t)(end - begin), 1) : CLF_OK;
}

bool clfi_gemm_lay_bundles(const clf_context *context, const clf_tile *tile, clf_gemm_weight *weight, size_t *out_bytes)
{
    const int64_t bundles = round_up(weight->n, BUNDLE) / BUNDLE, blocks = weight->k / clfi_weight_type_info(weight->blocks)->block_weights;
    (void)context;
    (void)tile;
    weight->panel = BUNDLE;
    return clfi_mul_size((size_t)(bundles * blocks), (size_t)unit_bytes(weight->blocks), out_bytes) && *out_bytes <= PTRDIFF_MAX;
}

void clfi_gemm_spec_tile(clf_kernel_spec *spec, const clf_gemm_args *args, int64_t rows, int64_t vectors)
{
    clfi_gemm_spec_types(spec, args, BUNDLE);
    clfi_spec_blocks(spec, args->weight->blocks);
    clfi_spec_int(spec, "ROWS", rows);
    clfi_spec_int(spec, "VECTORS", vectors);
    clfi_spec_int(spec, "IS_C_VECTOR", clfi_gemm_is_c_vector(args, BUNDLE));
    clfi_spec_int(spec, "IS_GATED", args->gate != NULL);
}

/* Rows of a tile: a power of two, so that few kernels are built. The last tile computes some rows a second time. */
static int64_t tile_rows(int64_t m)
{
    int64_t rows = TILE_ROWS;
    while (rows > m)
        rows /= 2;
    return rows;
}

/* Starts a launch with the arguments before A. */
static clf_launch few_launch(clf_context *context, const clf_gemm_args *args, const clf_kernel_spec *spec)
{
    clf_launch launch = clfi_launch(context, spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    return launch;
}

/* Sets the arguments after A and launches. */
static clf_status launch_few(clf_launch *launch, const clf_gemm_args *args, int64_t rows, int64_t columns)
{
    const int64_t bundles = (args->n + BUNDLE - 1) / BUNDLE, tiles = (args->m + rows - 1) / rows;
    clfi_arg_buffer(launch, args->weight->buffer);
    clfi_arg_buffer(launch, args->gate ? args->gate->buffer : args->weight->buffer);
    clfi_gemm_arg_result(launch, args);
    clfi_gemm_work(launch, args);
    return clfi_launch_2d(launch, (size_t)((bundles + columns - 1) / columns), (size_t)tiles, 1, 1);
}

static clf_status run_few(clf_context *context, const clf_gemm_args *args)
{
    const int64_t rows = tile_rows(args->m), vectors = rows <= 2 || args->gate ? 2 : 1;
    clf_gemm_operand a = args->a;
    if (a.dtype != CLF_F32 || a.column_stride != 1)
        CLF_TRY(clfi_gemm_pack_dense(context, args, &args->a, args->m, args->k, &a));
    clf_kernel_spec spec = clfi_kernel_spec("gemm_bundles.cl", "gemm_bundles");
    clfi_gemm_spec_tile(&spec, args, rows, vectors);
    clf_launch launch = few_launch(context, args, &spec);
    clfi_arg_buffer(&launch, a.buffer);
    clfi_arg_long(&launch, a.offset);
    clfi_arg_long(&launch, a.row_stride);
    return launch_few(&launch, args, rows, args->gate ? 1 : vectors);
}

/* A in panels of rows; the region's offset counts from the beginning of its buffer. */
static clf_status pack_input(clf_context *context, const clf_gemm_args *args, clf_region *out)
{
    clf_gemm_operand a;
    if (args->input && args->input->form == CLFI_GEMM_INPUT_PANELS) {
        *out = args->input->region[0];
        return CLF_OK;
    }
    const clf_gemm_args turned = {.n = args->m,
                                  .k = args->k,
                                  .b = {
                                      .buffer = args->a.buffer,
                                      .dtype = args->a.dtype,
                                      .offset = args->a.offset,
                                      .row_stride = args->a.column_stride,
                                      .column_stride = args->a.row_stride,
                                  }};
    CLF_TRY(clfi_gemm_pack_b(context, &turned, PANEL_ROWS, &a));
    *out = (clf_region){.buffer = a.buffer, .offset_bytes = (size_t)a.offset * sizeof(float)};
    if (args->input)
        *args->input = (clf_gemm_input){CLFI_GEMM_INPUT_PANELS, {*out}};
    return CLF_OK;
}

static clf_status run_panels_of_rows(clf_context *context, const clf_gemm_args *args)
{
    clf_region a;
    CLF_TRY(pack_input(context, args, &a));
    const bool in_parts = has_narrow_vectors(context);
    clf_kernel_spec spec = in_parts ? clfi_kernel_spec("gemm_bundles_parts.cl", "gemm_bundles_parts")
                                    : clfi_kernel_spec("gemm_bundles_rows.cl", "gemm_bundles_rows");
    clfi_gemm_spec_tile(&spec, args, PANEL_ROWS, 1);
    if (in_parts)
        clfi_spec_int(&spec, "PART_ROWS", NARROW_ROWS);
    clf_launch launch = few_launch(context, args, &spec);
    clfi_arg_buffer(&launch, a.buffer);
    clfi_arg_long(&launch, (int64_t)(a.offset_bytes / sizeof(float)));
    return launch_few(&launch, args, PANEL_ROWS, 1);
}

/* Computes columns first .. first + weight->n of the result from panels. */
static clf_status run_slice(clf_context *context, const clf_gemm_args *args, const clf_gemm_weight *weight, int64_t first)
{
    clf_gemm_args slice = *args;
    slice.weight = weight;
    slice.n = weight->n;
    slice.bias.offset += first;
    slice.residual.offset += first * args->residual.column_stride;
    slice.c.offset += args->column_block ? first / args->column_block * args->block_stride : first * args->c.column_stride;
    slice.tile = (clf_tile){0};
    return clfi_gemm_packed_run(context, &slice);
}

/* Columns of a slice: a multiple of the panel and of the column block. */
static int64_t slice_columns(const clf_gemm_args *args, int64_t panel)
{
    int64_t unit = panel;
    while (args->column_block && unit % args->column_block != 0)
        unit += panel;
    const int64_t fit = SLICE_BYTES / (int64_t)sizeof(float) / args->k / unit * unit;
    return fit > unit ? fit : unit;
}

static clf_status run_many(clf_context *context, const clf_gemm_args *args)
{
    const clf_gemm_weight *stored = args->weight;
    const clf_tile tile = unpacked_tile(context);
    const int64_t panel = clfi_gemm_panel(context, &tile, args->n), columns = slice_columns(args, panel);
    const int64_t most = args->n < columns ? round_up(args->n, panel) : columns;
    const int64_t units = args->k / clfi_weight_type_info(stored->blocks)->block_weights;
    clf_region region;
    CLF_TRY(clfi_arena_alloc(context, (size_t)(most * args->k) * sizeof(float), &region));
    for (int64_t first = 0; first < args->n; first += columns) {
        const clf_gemm_weight panels = {.form = CLFI_GEMM_PANELS,
                                        .dtype = CLF_F32,
                                        .k = args->k,
                                        .panel = panel,
                                        .buffer = region.buffer,
                                        .n = args->n - first < columns ? args->n - first : columns,
                                        .offset = (int64_t)(region.offset_bytes / sizeof(float))};
        clf_kernel_spec spec = clfi_kernel_spec("bundle_unpack.cl", "bundle_unpack");
        clfi_spec_int(&spec, "WIDTH", BUNDLE);
        clfi_spec_blocks(&spec, stored->blocks);
        clf_launch launch = clfi_launch(context, &spec);
        clfi_arg_buffer(&launch, stored->buffer);
        clfi_arg_int(&launch, first / BUNDLE);
        clfi_arg_int(&launch, units);
        clfi_arg_int(&launch, (args->n + BUNDLE - 1) / BUNDLE);
        clfi_arg_buffer(&launch, region.buffer);
        clfi_arg_long(&launch, panels.offset);
        clfi_arg_int(&launch, panel);
        CLF_TRY(clfi_launch_2d(&launch, (size_t)units, (size_t)(round_up(panels.n, panel) / BUNDLE), 1, 1));
        CLF_TRY(run_slice(context, args, &panels, first));
    }
    return CLF_OK;
}

clf_status clfi_gemm_bundles_run(clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const clf_tile unpacked = unpacked_tile(context);
    const bool is_few = args->m <= few_rows(context) || !clfi_gemm_packed_tiling.fits(context, &unpacked);
    if (!is_few)
        return run_many(context, args);
    return args->m > rows_in_place(context) ? run_panels_of_rows(context, args) : run_few(context, args);
}
