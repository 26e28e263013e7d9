/* SPDX-License-Identifier: MIT */
/* GEMM engine `bundles` for CPU devices: quantised weights, 16 rows of them interleaved. Few rows of A multiply the stored integers; for
 * more rows, a work-item converts integers to floats, which all its rows are multiplied by. */
#include "base/alloc.h"
#include "kernel/gemm_bundles.h"
#include "kernel/weight_rows.h"

enum {
    BUNDLE = CLFI_BUNDLE,
    GATED_ROWS = 4,      /* most rows with a gate */
    TILE_ROWS = 8,       /* most rows of a tile whose sums are in registers */
    MANY_ROWS = 128,     /* most rows of a work-item that keeps floats of the weights in the first-level cache */
    LEAST_ROWS = 32,     /* its rows are not split further than this to occupy all compute units */
    MANY_VECTORS = 3,    /* its bundles */
    DEPTH = 256,         /* columns of A whose weights it converts at a time */
    ITEMS_PER_UNIT = 4,  /* work-items for each compute unit, so that none waits long for the others */
    NARROW_IN_PLACE = 2, /* most rows in place if a bundle is several vectors: more sums do not fit into registers */
    NARROW_PANEL = 16,   /* rows of a tile there where A is packed into panels */
    NARROW_ROWS = 4      /* rows of a panel whose sums are in registers at once there */
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
    clfi_launch_work(&launch, 0, 2.0 * (double)from->dim[0] * (double)from->stride[0]);
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
static clf_launch tile_launch(clf_context *context, const clf_gemm_args *args, const clf_kernel_spec *spec)
{
    clf_launch launch = clfi_launch(context, spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    return launch;
}

/* Sets the arguments after A and launches. */
static clf_status launch_tiles(clf_launch *launch, const clf_gemm_args *args, int64_t rows, int64_t columns)
{
    const int64_t bundles = (args->n + BUNDLE - 1) / BUNDLE, tiles = (args->m + rows - 1) / rows;
    clfi_arg_buffer(launch, args->weight->buffer);
    clfi_arg_buffer(launch, args->gate ? args->gate->buffer : args->weight->buffer);
    clfi_gemm_arg_result(launch, args);
    clfi_gemm_work(launch, args);
    return clfi_launch_2d(launch, (size_t)((bundles + columns - 1) / columns), (size_t)tiles, 1, 1);
}

/* A in floats whose columns are contiguous: as it is, or a copy. */
static clf_status input_in_place(clf_context *context, const clf_gemm_args *args, clf_gemm_operand *out)
{
    *out = args->a;
    if (args->a.dtype == CLF_F32 && args->a.column_stride == 1)
        return CLF_OK;
    return clfi_gemm_pack_dense(context, args, &args->a, args->m, args->k, out);
}

static clf_status run_few(clf_context *context, const clf_gemm_args *args)
{
    const int64_t rows = tile_rows(args->m), vectors = rows <= 2 || args->gate ? 2 : 1;
    clf_gemm_operand a;
    CLF_TRY(input_in_place(context, args, &a));
    clf_kernel_spec spec = clfi_kernel_spec("gemm_bundles.cl", "gemm_bundles");
    clfi_gemm_spec_tile(&spec, args, rows, vectors);
    clf_launch launch = tile_launch(context, args, &spec);
    clfi_arg_buffer(&launch, a.buffer);
    clfi_arg_long(&launch, a.offset);
    clfi_arg_long(&launch, a.row_stride);
    return launch_tiles(&launch, args, rows, args->gate ? 1 : vectors);
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
    CLF_TRY(clfi_gemm_pack_b(context, &turned, NARROW_PANEL, &a));
    *out = (clf_region){.buffer = a.buffer, .offset_bytes = (size_t)a.offset * sizeof(float)};
    if (args->input)
        *args->input = (clf_gemm_input){CLFI_GEMM_INPUT_PANELS, {*out}};
    return CLF_OK;
}

/* More rows than fit in place, where a bundle is several vectors. */
static clf_status run_parts(clf_context *context, const clf_gemm_args *args)
{
    clf_region a;
    CLF_TRY(pack_input(context, args, &a));
    clf_kernel_spec spec = clfi_kernel_spec("gemm_bundles_parts.cl", "gemm_bundles_parts");
    clfi_gemm_spec_tile(&spec, args, NARROW_PANEL, 1);
    clfi_spec_int(&spec, "PART_ROWS", NARROW_ROWS);
    clf_launch launch = tile_launch(context, args, &spec);
    clfi_arg_buffer(&launch, a.buffer);
    clfi_arg_long(&launch, (int64_t)(a.offset_bytes / sizeof(float)));
    return launch_tiles(&launch, args, NARROW_PANEL, 1);
}

/* Work-items of so many rows and bundles. */
static int64_t items(const clf_gemm_args *args, int64_t rows, int64_t vectors)
{
    return (args->n + vectors * BUNDLE - 1) / (vectors * BUNDLE) * ((args->m + rows - 1) / rows);
}

/* More rows than fit in place, where a bundle is one vector. */
static clf_status run_many(clf_context *context, const clf_gemm_args *args)
{
    const int64_t wanted = (int64_t)context->device.caps.compute_units * ITEMS_PER_UNIT;
    int64_t rows = MANY_ROWS;
    while (rows > LEAST_ROWS && items(args, rows, MANY_VECTORS) < wanted)
        rows /= 2;
    const int64_t vectors = items(args, rows, MANY_VECTORS) < wanted ? 1 : MANY_VECTORS;
    clf_gemm_operand a;
    CLF_TRY(input_in_place(context, args, &a));
    clf_kernel_spec spec = clfi_kernel_spec("gemm_bundles_many.cl", "gemm_bundles_many");
    clfi_gemm_spec_tile(&spec, args, TILE_ROWS, vectors);
    clfi_spec_int(&spec, "MOST_ROWS", MANY_ROWS);
    clfi_spec_int(&spec, "DEPTH", DEPTH);
    clf_launch launch = tile_launch(context, args, &spec);
    clfi_arg_buffer(&launch, a.buffer);
    clfi_arg_long(&launch, a.offset);
    clfi_arg_long(&launch, a.row_stride);
    clfi_arg_int(&launch, rows);
    return launch_tiles(&launch, args, rows, vectors);
}

clf_status clfi_gemm_bundles_run(clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    if (args->m <= rows_in_place(context))
        return run_few(context, args);
    return has_narrow_vectors(context) ? run_parts(context, args) : run_many(context, args);
}
