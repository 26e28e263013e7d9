/* SPDX-License-Identifier: MIT */
/* Launchers of two GEMM engines. `tiled` is the portable one: any device, strides and storage types. `tiled_half` is the same with products
 * in half precision. */
#include "kernel/gemm_common.h"
#include "kernel/loops.h"

/* Indices in clf_tile.value. WG_: work-items of a group along m and n. ITEM_: results of one item along m and n. SLICE: length of a slice
 * of k in local memory. SPLIT: number of parts of k, each summed by groups of its own. */
enum { WG_M, WG_N, ITEM_M, ITEM_N, SLICE, SPLIT };
enum { MAX_LOADS = 16, PADDING = 4 }; /* elements that an item loads per operand and slice; a multiple of 4, as in gemm_tiled.cl */
enum { GROUPS_PER_UNIT = 2, SMALL_UNITS = 4, LEAST_PART = 128, MOST_PARTS = 8, RUN = 8 };

/* The differences between the two engines. */
typedef struct variant {
    clf_tile_parameter parameters[CLFI_TILE_PARAMETERS];
    bool is_half;
    int most_values;      /* limit of results plus loaded elements of an item; gfx1100's compiler spills at 96 (halves: 56) */
    size_t element_bytes; /* in local memory */
} variant;

#define SPLITS [SPLIT] = {"split", {1, 2, 4, 8}}
static const variant floats = {.parameters = {[WG_M] = {"wg_m", {8, 16}},
                                              [WG_N] = {"wg_n", {8, 16}},
                                              [ITEM_M] = {"item_m", {4, 8}},
                                              [ITEM_N] = {"item_n", {4, 8}},
                                              [SLICE] = {"slice", {8, 16, 32}},
                                              SPLITS},
                               .most_values = 80,
                               .element_bytes = sizeof(cl_float)};
static const variant halves = {.parameters = {[WG_M] = {"wg_m", {8}},
                                              [WG_N] = {"wg_n", {8}},
                                              [ITEM_M] = {"item_m", {4, 8}},
                                              [ITEM_N] = {"item_n", {4}},
                                              [SLICE] = {"slice", {8, 16}},
                                              SPLITS},
                               .is_half = true,
                               .most_values = 44,
                               .element_bytes = sizeof(cl_half)};

/* 8 x 8 work-items with slices of 8. tile_of chooses the results of an item and the parts of k. */
static clf_tile standard(const clf_context *context, const clf_tile *tile)
{
    static const clf_tile usual = {{[WG_M] = 8, [WG_N] = 8, [SLICE] = 8}};
    (void)context;
    return clfi_tile_or(tile, &usual);
}

/* Sets the item's results that the tile leaves open (0) to their largest values. */
static clf_tile with_large_items(const variant *of, const clf_tile *tile)
{
    clf_tile large = *tile;
    for (int i = ITEM_M; i <= ITEM_N; i++)
        for (const int *value = of->parameters[i].values; !tile->value[i] && *value; value++)
            large.value[i] = *value;
    return large;
}

static int loads_a(const clf_tile *tile)
{
    return tile->value[ITEM_M] * tile->value[SLICE] / tile->value[WG_N];
}

static int loads_b(const clf_tile *tile)
{
    return tile->value[ITEM_N] * tile->value[SLICE] / tile->value[WG_M];
}

static bool fits(const clf_context *context, const variant *of, const clf_tile *tile)
{
    const clf_tile own = standard(context, tile), all = with_large_items(of, &own);
    const int *v = all.value;
    const uint64_t lines = (uint64_t)(v[WG_M] * v[ITEM_M] + v[WG_N] * v[ITEM_N] + 2 * PADDING);
    return (size_t)(v[WG_M] * v[WG_N]) <= context->device.caps.max_work_group_size &&
           v[ITEM_M] * v[ITEM_N] + loads_a(&all) + loads_b(&all) <= of->most_values && loads_a(&all) <= MAX_LOADS &&
           loads_b(&all) <= MAX_LOADS && loads_a(&all) % 4 == 0 && loads_b(&all) % 4 == 0 &&
           lines * (uint64_t)v[SLICE] * of->element_bytes <= context->device.caps.local_memory_bytes;
}

static bool floats_fit(const clf_context *context, const clf_tile *tile)
{
    return fits(context, &floats, tile);
}

static bool halves_fit(const clf_context *context, const clf_tile *tile)
{
    return fits(context, &halves, tile);
}

const clf_tiling clfi_gemm_tiled_tiling = {floats.parameters, CLFI_TILE_PARAMETERS, floats_fit, standard};
const clf_tiling clfi_gemm_tiled_half_tiling = {halves.parameters, CLFI_TILE_PARAMETERS, halves_fit, standard};

static int64_t tiles_of(const clf_gemm_args *args, const clf_tile *tile)
{
    const int *v = tile->value;
    return clfi_ceil_div(args->m, v[WG_M] * v[ITEM_M]) * clfi_ceil_div(args->n, v[WG_N] * v[ITEM_N]) * clfi_gemm_batch_count(args);
}

/* The number of work-groups that fills the device. */
static int64_t wanted_groups(const clf_context *context)
{
    const clf_device_caps *caps = &context->device.caps;
    const int64_t groups = (int64_t)GROUPS_PER_UNIT * caps->compute_units;
    return caps->small_units ? clfi_ceil_div(groups, SMALL_UNITS) : groups;
}

/* CPUs and devices with a slow compiler get small items, whose kernel is shorter: compilers take long over loops with barriers. */
static bool is_short(const clf_context *context)
{
    return context->device.caps.slow_compiler || context->device.caps.is_cpu;
}

/* An item computes 8 x 8 results (halves: 8 x 4) if that still makes enough groups to fill the device, else 4 x 4. If those groups are too
 * few as well, k is split. */
static clf_tile tile_of(const clf_context *context, const variant *of, const clf_gemm_args *args)
{
    static const clf_tile small_items = {{[ITEM_M] = 4, [ITEM_N] = 4}};
    const int64_t wanted = wanted_groups(context);
    const clf_tile own = standard(context, &args->tile), large = with_large_items(of, &own), small = clfi_tile_or(&own, &small_items);
    const bool is_large = (!is_short(context) && tiles_of(args, &large) >= wanted) || !fits(context, of, &small);
    clf_tile tile = is_large ? large : small;
    if (!tile.value[SPLIT]) {
        const int64_t groups = tiles_of(args, &tile), by_length = args->k / LEAST_PART;
        int64_t parts = context->device.caps.is_cpu || groups == 0 ? 1 : wanted / groups;
        parts = parts > by_length ? by_length : parts;
        tile.value[SPLIT] = (int)(parts < 1 ? 1 : parts > MOST_PARTS ? MOST_PARTS : parts);
    }
    return tile;
}

int64_t clfi_gemm_tiled_full_rows(const clf_context *context, int64_t n)
{
    static const clf_tile own = {{0}};
    const clf_tile usual = standard(context, &own), tile = with_large_items(&floats, &usual);
    const int64_t columns = clfi_ceil_div(n, (int64_t)tile.value[WG_N] * tile.value[ITEM_N]),
                  height = (int64_t)tile.value[WG_M] * tile.value[ITEM_M];
    return is_short(context) || columns == 0 ? 0 : clfi_ceil_div(wanted_groups(context), columns) * height;
}

/* Counts the kernel's loop iterations. After the whole slices, two loops load the rest of the operands and one multiplies it. Halves also
 * have a loop over runs within a slice. */
static bool supports(const clf_context *context, const variant *of, const clf_gemm_args *args)
{
    const clf_tile tile = standard(context, &args->tile);
    const int64_t slice = tile.value[SLICE], rest = 3 * slice, runs = of->is_half ? args->k / RUN : 0;
    return clfi_loops_fit(context, args->k / slice + runs + 1 + rest);
}

bool clfi_gemm_tiled_supports(const clf_context *context, const void *args)
{
    return supports(context, &floats, args);
}

bool clfi_gemm_tiled_half_supports(const clf_context *context, const void *args)
{
    return supports(context, &halves, args);
}

/* An operand of the product as the kernel reads it: lines (rows of A, columns of B) along k. */
typedef struct tile_walk {
    const clf_gemm_operand *operand;
    int64_t lines, line_stride, k_stride;
    bool is_k_inner;
} tile_walk;

/* How the kernel loads an operand. Vectors along the lines need a multiple of 4 lines, else they would reach past the last one. */
static const char *reads_of(const clf_gemm_args *args, const tile_walk *w)
{
    const int64_t inner = w->is_k_inner ? w->k_stride : w->line_stride, outer = w->is_k_inner ? w->line_stride : w->k_stride;
    return w->is_k_inner || w->lines % 4 == 0 ? clfi_gemm_reads(args, w->operand, inner, outer, 4) : "ELEMENTS";
}

static clf_status launch_tiles(clf_context *context, const variant *of, const clf_gemm_args *args, const clf_tile *tile)
{
    const int *v = tile->value;
    const int64_t tile_m = v[WG_M] * v[ITEM_M], tile_n = v[WG_N] * v[ITEM_N], batches = clfi_gemm_batch_count(args);
    const int64_t k_part = clfi_ceil_div(clfi_ceil_div(args->k, v[SPLIT]), v[SLICE]) * v[SLICE];
    const clf_gemm_operand b = clfi_gemm_b_operand(args);
    const tile_walk wa = {&args->a, args->m, args->a.row_stride, args->a.column_stride, args->a.column_stride <= args->a.row_stride};
    const tile_walk wb = {&b, args->n, b.column_stride, b.row_stride, b.row_stride < b.column_stride};
    clf_kernel_spec spec = clfi_kernel_spec("gemm_tiled.cl", "gemm_tiled");
    clfi_gemm_spec_result(&spec, args, 1);
    clfi_spec_int(&spec, "IS_HALF", of->is_half);
    clfi_spec_dtype(&spec, "A", args->a.dtype);
    clfi_spec_dtype(&spec, "B", b.dtype);
    clfi_spec_int(&spec, "WG_M", v[WG_M]);
    clfi_spec_int(&spec, "WG_N", v[WG_N]);
    clfi_spec_int(&spec, "ITEM_M", v[ITEM_M]);
    clfi_spec_int(&spec, "ITEM_N", v[ITEM_N]);
    clfi_spec_int(&spec, "SLICE", v[SLICE]);
    clfi_spec_int(&spec, "IS_SPLIT", v[SPLIT] > 1);
    clfi_spec_int(&spec, "IS_A_K_INNER", wa.is_k_inner);
    clfi_spec_int(&spec, "IS_B_K_INNER", wb.is_k_inner);
    clfi_spec_text(&spec, "A_READS", reads_of(args, &wa));
    clfi_spec_text(&spec, "B_READS", reads_of(args, &wb));
    clfi_spec_int(&spec, "C_VECTOR", clfi_gemm_is_c_aligned(args));
    const bool is_near = clfi_gemm_is_near(tile_m, wa.line_stride, v[SLICE], wa.k_stride) &&
                         clfi_gemm_is_near(tile_n, wb.line_stride, v[SLICE], wb.k_stride);
    clfi_spec_text(&spec, "OFFSET_T", is_near ? "uint" : "ulong");
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_arg_int(&launch, k_part);
    clfi_arg_long(&launch, args->m * args->n * batches);
    clfi_gemm_arg_operand(&launch, args, &args->a);
    clfi_gemm_arg_operand(&launch, args, &b);
    clfi_gemm_arg_result(&launch, args);
    clfi_gemm_work(&launch, args);
    const size_t groups[3] = {(size_t)clfi_ceil_div(args->n, tile_n), (size_t)clfi_ceil_div(args->m, tile_m),
                              (size_t)(batches * clfi_ceil_div(args->k, k_part))};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){(size_t)v[WG_N], (size_t)v[WG_M], 1});
}

/* Writes the sums of each part of k to temporary memory. The epilogue's kernel then adds the parts. */
static clf_status run_split(clf_context *context, const variant *of, const clf_gemm_args *args, const clf_tile *tile)
{
    const int64_t step = clfi_ceil_div(clfi_ceil_div(args->k, tile->value[SPLIT]), tile->value[SLICE]) * tile->value[SLICE];
    const int64_t parts = clfi_ceil_div(args->k, step), matrix = args->m * args->n;
    clf_region region;
    clf_gemm_args partial = *args;
    CLF_TRY(clfi_arena_alloc(context, (size_t)(parts * matrix * clfi_gemm_batch_count(args)) * sizeof(float), &region));
    partial.c = (clf_gemm_operand){.buffer = region.buffer,
                                   .dtype = CLF_F32,
                                   .offset = (int64_t)(region.offset_bytes / sizeof(float)),
                                   .row_stride = args->n,
                                   .column_stride = 1};
    for (int64_t i = args->batch_rank - 1, stride = matrix; i >= 0; stride *= args->batch[i--])
        partial.c.batch_stride[i] = stride;
    partial.residual = partial.bias = (clf_gemm_operand){.buffer = NULL};
    partial.activation = CLF_ACTIVATION_NONE;
    partial.alpha = 1;
    partial.column_block = partial.block_stride = 0;
    CLF_TRY(launch_tiles(context, of, &partial, tile));
    return clfi_gemm_epilogue(context, args, &partial.c, (int)parts);
}

static clf_status run(clf_context *context, const variant *of, const clf_gemm_args *args)
{
    const clf_tile tile = tile_of(context, of, args);
    if (tile.value[SPLIT] == 1)
        return launch_tiles(context, of, args, &tile);
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = run_split(context, of, args, &tile);
    clfi_arena_release(context, mark);
    return st;
}

clf_status clfi_gemm_tiled_run(clf_context *context, const void *args)
{
    return run(context, &floats, args);
}

clf_status clfi_gemm_tiled_half_run(clf_context *context, const void *args)
{
    return run(context, &halves, args);
}
