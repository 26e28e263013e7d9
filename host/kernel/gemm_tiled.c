/* SPDX-License-Identifier: MIT */
/* GEMM engine `tiled`: any device, any strides, any storage types. */
#include "kernel/gemm_common.h"
#include "kernel/loops.h"

/* Places in clf_gemm_tile: work-items down and across a group, results of one item down and across, and the slice of k in local memory. */
enum { WG_M, WG_N, ITEM_M, ITEM_N, SLICE };
enum { MAX_LOADS = 16, PADDING = 4 }; /* loads of a work-item per operand and slice; as in gemm_tiled.cl */

static const clf_gemm_tile_parameter parameters[] = {
    [WG_M] = {"wg_m", {8, 16}}, [WG_N] = {"wg_n", {8, 16}},       [ITEM_M] = {"item_m", {4, 8}},
    [ITEM_N] = {"item_n", {4, 8}}, [SLICE] = {"slice", {8, 16, 32}},
};

/* 16 x 16 work-items with 4 x 4 results each where the device takes groups of 256, else 8 x 8; a slice is as deep as a group is wide. */
static clf_gemm_tile standard(const clf_context *context, const clf_gemm_tile *tile)
{
    const int side = context->device.caps.max_work_group_size >= 256 ? 16 : 8;
    const int usual[] = {[WG_M] = side, [WG_N] = side, [ITEM_M] = 4, [ITEM_N] = 4, [SLICE] = side};
    clf_gemm_tile all = *tile;
    for (size_t i = 0; i < COUNT(usual); i++)
        if (!all.value[i])
            all.value[i] = usual[i];
    return all;
}

static int loads_a(const clf_gemm_tile *tile)
{
    return tile->value[ITEM_M] * tile->value[SLICE] / tile->value[WG_N];
}

static int loads_b(const clf_gemm_tile *tile)
{
    return tile->value[ITEM_N] * tile->value[SLICE] / tile->value[WG_M];
}

static bool fits(const clf_context *context, const clf_gemm_tile *tile)
{
    const clf_gemm_tile all = standard(context, tile);
    const int *v = all.value;
    const uint64_t lines = (uint64_t)(v[WG_M] * v[ITEM_M] + v[WG_N] * v[ITEM_N] + 2 * PADDING);
    return (size_t)(v[WG_M] * v[WG_N]) <= context->device.caps.max_work_group_size && loads_a(&all) <= MAX_LOADS &&
           loads_b(&all) <= MAX_LOADS && lines * (uint64_t)v[SLICE] * sizeof(float) <= context->device.caps.local_memory_bytes;
}

const clf_gemm_tiling clfi_gemm_tiled_tiling = {parameters, COUNT(parameters), fits, standard};

bool clfi_gemm_tiled_supports(const clf_context *context, const clf_gemm_args *args)
{
    const clf_gemm_tile tile = standard(context, &args->tile);
    const int *v = tile.value;
    const bool is_deep = v[SLICE] > 16 || v[ITEM_M] * v[ITEM_N] > 16; /* as in gemm_tiled.cl: loops inside a slice */
    const int64_t iterations = (args->k / v[SLICE] + 1) * (is_deep ? v[SLICE] + 2 * MAX_LOADS : 1);
    return (!args->weight || args->weight->form == CLFI_GEMM_ROWS) && clfi_loops_fit(context, iterations);
}

clf_status clfi_gemm_tiled_run(clf_context *context, const clf_gemm_args *args)
{
    const clf_gemm_tile tile = standard(context, &args->tile);
    const int *v = tile.value;
    const int64_t tile_m = v[WG_M] * v[ITEM_M], tile_n = v[WG_N] * v[ITEM_N];
    const clf_gemm_operand b = clfi_gemm_b_operand(args);
    clf_kernel_spec spec = clfi_kernel_spec("gemm_tiled.cl", "gemm_tiled");
    clfi_gemm_spec_result(&spec, args, 1);
    clfi_spec_dtype(&spec, "A", args->a.dtype);
    clfi_spec_dtype(&spec, "B", b.dtype);
    clfi_spec_int(&spec, "WG_M", v[WG_M]);
    clfi_spec_int(&spec, "WG_N", v[WG_N]);
    clfi_spec_int(&spec, "ITEM_M", v[ITEM_M]);
    clfi_spec_int(&spec, "ITEM_N", v[ITEM_N]);
    clfi_spec_int(&spec, "SLICE", v[SLICE]);
    clfi_spec_int(&spec, "LOADS_A", loads_a(&tile));
    clfi_spec_int(&spec, "LOADS_B", loads_b(&tile));
    clfi_spec_int(&spec, "IS_A_K_INNER", args->a.column_stride <= args->a.row_stride);
    clfi_spec_int(&spec, "IS_B_K_INNER", b.row_stride < b.column_stride);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_gemm_arg_operand(&launch, args, &args->a);
    clfi_gemm_arg_operand(&launch, args, &b);
    clfi_gemm_arg_result(&launch, args);
    const size_t groups[3] = {(size_t)((args->n + tile_n - 1) / tile_n), (size_t)((args->m + tile_m - 1) / tile_m),
                              (size_t)clfi_gemm_batch_count(args)};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){(size_t)v[WG_N], (size_t)v[WG_M], 1});
}
