/* SPDX-License-Identifier: MIT */
/* GEMM engine `packed` for CPU devices: register tiles over panels of B. */
#include "kernel/gemm_common.h"
#include "kernel/gemm_panel.h"

/* Whether the batches of c are interleaved (heads innermost, as in "ibhd,jbhd->ijbh"). Batches that share cache lines of c should then run
 * one after another. */
static bool is_batch_inner(const clf_gemm_args *args)
{
    const int last = args->batch_rank - 1;
    return last >= 0 && args->c.batch_stride[last] < args->c.column_stride && args->c.batch_stride[last] < args->c.row_stride;
}

bool clfi_gemm_packed_supports(const clf_context *context, const void *call)
{
    (void)call;
    return !context->device.caps.slow_compiler;
}

/* Row tiles of a work-item: a power of two of at most super_rows. One, unless tiles are so small that beginning an item takes as long. */
static int64_t item_tiles(const clf_context *context, int64_t tile_products, int64_t tiles, int64_t super_rows)
{
    enum { SMALL = 1 << 18 /* multiply-adds, some microseconds */, ITEMS_PER_UNIT = 4 };
    const int64_t least_items = ITEMS_PER_UNIT * (int64_t)context->device.caps.compute_units;
    int64_t count = 1;
    while (2 * count <= super_rows && 2 * count * tile_products <= SMALL && tiles / (2 * count) >= least_items)
        count *= 2;
    return count;
}

/* Whether B lies in memory as a panel of its own. */
static bool is_panel(const clf_gemm_operand *b, int64_t n, int64_t panel)
{
    return b->dtype == CLF_F32 && n == panel && b->column_stride == 1 && b->row_stride == panel;
}

static clf_status run(clf_context *context, const clf_gemm_args *args)
{
    const int width = context->device.caps.vector_width;
    const clf_tile tile = clfi_gemm_panel_tile(context, &args->tile);
    const clf_gemm_weight *weight = args->weight;
    const int64_t panel = weight ? weight->panel : clfi_gemm_panel(context, &tile, args->n);
    /* Panels of a weight may be wider than this tile's: then the registers hold the sums of fewer rows. */
    const int fitting_rows = clfi_gemm_panel_rows(context, (int)(panel / width));
    const int max_rows = tile.value[CLFI_PANEL_ROWS] < fitting_rows ? tile.value[CLFI_PANEL_ROWS] : fitting_rows;
    const int64_t row_tiles_at_most = clfi_ceil_div(args->m, max_rows);
    const int64_t rows = clfi_ceil_div(args->m, row_tiles_at_most);
    const bool batch_inner = is_batch_inner(args);
    const int64_t super_rows = tile.value[CLFI_PANEL_SUPER_ROWS], row_tiles = clfi_ceil_div(args->m, rows);
    const int64_t panels = clfi_ceil_div(args->n, panel), batches = clfi_gemm_batch_count(args);
    const int64_t own_tiles = item_tiles(context, rows * panel * args->k, row_tiles * panels * batches, super_rows);

    clf_gemm_operand a = args->a;
    if (a.dtype != CLF_F32 || a.column_stride != 1)
        CLF_TRY(clfi_gemm_pack_dense(context, args, &args->a, args->m, args->k, &a));
    clf_gemm_operand b = {0};
    if (weight) {
        b.buffer = weight->buffer;
        b.dtype = weight->dtype;
        b.offset = weight->offset;
    } else if (is_panel(&args->b, args->n, panel)) {
        b = args->b;
    } else {
        CLF_TRY(clfi_gemm_pack_b(context, args, panel, &b));
    }

    clf_kernel_spec spec = clfi_kernel_spec("gemm_packed.cl", "gemm_packed");
    clfi_gemm_spec_types(&spec, args, width);
    clfi_spec_dtype(&spec, "B", b.dtype);
    clfi_spec_int(&spec, "ROWS", rows);
    clfi_spec_int(&spec, "VECTORS", panel / width);
    clfi_spec_int(&spec, "IS_C_VECTOR", clfi_gemm_is_c_vector(args, width));
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_arg_buffer(&launch, a.buffer);
    clfi_arg_long(&launch, a.offset);
    clfi_arg_long(&launch, a.row_stride);
    clfi_gemm_arg_batch_stride(&launch, args, a.batch_stride);
    clfi_arg_buffer(&launch, b.buffer);
    clfi_arg_long(&launch, b.offset);
    clfi_gemm_arg_batch_stride(&launch, args, b.batch_stride);
    clfi_arg_int(&launch, super_rows);
    clfi_arg_int(&launch, own_tiles);
    clfi_arg_int(&launch, batch_inner);
    clfi_gemm_arg_result(&launch, args);
    clfi_gemm_work(&launch, args);
    const int64_t last_tiles = row_tiles % super_rows;
    const int64_t panel_items = row_tiles / super_rows * (super_rows / own_tiles) + clfi_ceil_div(last_tiles, own_tiles);
    const size_t items = (size_t)(panel_items * panels);
    return batch_inner ? clfi_launch_2d(&launch, (size_t)batches, items, 1, 1) : clfi_launch_2d(&launch, items, (size_t)batches, 1, 1);
}

clf_status clfi_gemm_packed_run(clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = run(context, args);
    clfi_arena_release(context, mark);
    return st;
}
