/* SPDX-License-Identifier: MIT */
/* GEMM engines on a GPU's matrix unit: `matrix` multiplies numbers of 16 bits, `matrix_split` sums of two of them. Any strides and storage
 * types; quantised weights as they are stored. */
#include "kernel/gemm_common.h"
#include "kernel/weight_rows.h"

/* Indices in clf_tile. WAVES_: waves of a group along m and n. BLOCKS_: blocks of 16 x 16 results of a wave along m and n. SLICE: length of
 * a slice of k in local memory. BUFFERS: number of slices there. */
enum { WAVES_M, WAVES_N, BLOCKS_M, BLOCKS_N, SLICE, BUFFERS };
enum { SIDE = 16, TOTAL_K = 128, SCRATCH_BYTES = 1024 /* per emulated wave */, PADDING = 4, GROUPS_PER_UNIT = 2 };

/* The differences between the two engines. */
typedef struct matrix_variant {
    clf_tile_parameter parameters[CLFI_TILE_PARAMETERS];
    bool is_split;
    int most_blocks; /* of a wave, because sums, and totals of split numbers, are in registers */
} matrix_variant;

#define PARAMETERS                                                                                                   \
    [WAVES_M] = {"waves_m", {1, 2, 4}}, [WAVES_N] = {"waves_n", {1, 2, 4, 8}}, [BLOCKS_M] = {"blocks_m", {1, 2, 4}}, \
    [BLOCKS_N] = {"blocks_n", {1, 2, 4}}, [SLICE] = {"slice", {16, 32, 64}}, [BUFFERS] = {"buffers", {1, 2}}
static const matrix_variant plain = {.parameters = {PARAMETERS}, .most_blocks = 16};
static const matrix_variant split = {.parameters = {PARAMETERS}, .is_split = true, .most_blocks = 8};

static int lanes_of(const clf_context *context)
{
    return clfi_matrix_unit_info(context->device.caps.matrix_unit)->lanes;
}

/* Tiles of a unit, the largest first; the rest is {0}. NVIDIA's were measured on an H100 (2026-11-27), the others by their machine code. */
enum { MOST_TILES = 3 };
static const clf_tile emulated_tiles[MOST_TILES] = {{{2, 1, 1, 2, 32, 1}}};
static const clf_tile nvidia_tiles[MOST_TILES] = {{{2, 4, 4, 4, 32, 2}}, {{2, 2, 4, 4, 32, 2}}, {{2, 2, 2, 2, 32, 2}}};
/* Larger tiles spill registers on compute capability 7.5. */
static const clf_tile turing_tiles[MOST_TILES] = {{{2, 4, 4, 2, 32, 2}}, {{2, 2, 4, 2, 32, 2}}, {{2, 2, 2, 2, 32, 2}}};
static const clf_tile nvidia_split_tiles[MOST_TILES] = {{{2, 4, 2, 2, 32, 2}}, {{2, 2, 2, 2, 32, 2}}};
static const clf_tile cdna_tiles[MOST_TILES] = {{{2, 4, 4, 4, 32, 1}}, {{2, 2, 4, 4, 32, 1}}, {{2, 2, 2, 2, 32, 1}}};
static const clf_tile cdna_split_tiles[MOST_TILES] = {{{2, 4, 4, 2, 32, 1}}, {{2, 2, 2, 2, 32, 1}}};
/* Larger tiles spill registers on RDNA. */
static const clf_tile rdna_tiles[MOST_TILES] = {{{2, 4, 4, 2, 32, 1}}, {{2, 2, 4, 2, 32, 1}}, {{2, 2, 2, 2, 32, 1}}};
static const clf_tile rdna_split_tiles[MOST_TILES] = {{{2, 4, 2, 2, 32, 1}}, {{2, 2, 2, 2, 32, 1}}};
static const clf_tile intel_tiles[MOST_TILES] = {{{2, 8, 2, 2, 32, 1}}, {{2, 4, 2, 2, 32, 1}}};
static const clf_tile intel_split_tiles[MOST_TILES] = {{{2, 4, 2, 2, 32, 1}}, {{2, 2, 2, 2, 32, 1}}};

static const clf_tile *tiles_for(const clf_context *context, const matrix_variant *of)
{
    if (context->device.caps.emulates_matrix_unit)
        return emulated_tiles;
    switch (context->device.caps.matrix_unit) {
    case CLFI_MATRIX_AMD_GFX11:
    case CLFI_MATRIX_AMD_GFX12:
        return of->is_split ? rdna_split_tiles : rdna_tiles;
    case CLFI_MATRIX_AMD_CDNA:
        return of->is_split ? cdna_split_tiles : cdna_tiles;
    case CLFI_MATRIX_INTEL_16:
    case CLFI_MATRIX_INTEL_8:
        return of->is_split ? intel_split_tiles : intel_tiles;
    case CLFI_MATRIX_NVIDIA_F16:
        return of->is_split ? nvidia_split_tiles : turing_tiles;
    default:
        return of->is_split ? nvidia_split_tiles : nvidia_tiles;
    }
}

static uint64_t local_bytes(const matrix_variant *of, const clf_tile *tile, bool is_emulated)
{
    const int *v = tile->value;
    const uint64_t m = (uint64_t)(v[WAVES_M] * v[BLOCKS_M] * SIDE), n = (uint64_t)(v[WAVES_N] * v[BLOCKS_N] * SIDE);
    const uint64_t slices = (m + n) * (uint64_t)v[SLICE] * 2 * (of->is_split ? 2 : 1) * (uint64_t)v[BUFFERS];
    const uint64_t staged = (uint64_t)v[WAVES_M] * SIDE * (n + PADDING) * sizeof(float);
    return (slices > staged ? slices : staged) + (is_emulated ? (uint64_t)(v[WAVES_M] * v[WAVES_N] * SCRATCH_BYTES) : 0);
}

static int64_t tiles_of(const clf_gemm_args *args, const clf_tile *tile)
{
    const int *v = tile->value;
    return clfi_ceil_div(args->m, v[WAVES_M] * v[BLOCKS_M] * SIDE) * clfi_ceil_div(args->n, v[WAVES_N] * v[BLOCKS_N] * SIDE) *
           clfi_gemm_batch_count(args);
}

/* Whether the device can run this tile, in which every value is set. Without a unit it can run none. */
static bool is_possible(const clf_context *context, const matrix_variant *of, const clf_tile *tile)
{
    const clf_device_caps *caps = &context->device.caps;
    const int *v = tile->value, lanes = lanes_of(context), eights = 2 * v[SLICE]; /* groups of 8 numbers in a slice of 16 lines */
    return lanes > 0 && (size_t)(v[WAVES_M] * v[WAVES_N] * lanes) <= caps->max_work_group_size &&
           v[BLOCKS_M] * v[BLOCKS_N] <= of->most_blocks && v[BLOCKS_M] * eights % (v[WAVES_N] * lanes) == 0 &&
           v[BLOCKS_N] * eights % (v[WAVES_M] * lanes) == 0 &&
           local_bytes(of, tile, caps->emulates_matrix_unit) <= caps->local_memory_bytes;
}

/* Puts the given values into each of the unit's tiles, the largest first, and takes the first possible one that divides the results of
 * `args` into enough groups for the device (args NULL: any). Else it takes the last possible one. */
static clf_tile choose(const clf_context *context, const matrix_variant *of, const clf_tile *given, const clf_gemm_args *args)
{
    const clf_tile *all = tiles_for(context, of);
    const int64_t wanted = GROUPS_PER_UNIT * (int64_t)context->device.caps.compute_units;
    clf_tile chosen = clfi_tile_or(given, &all[0]);
    for (int i = 0; i < MOST_TILES && all[i].value[SLICE]; i++) {
        const clf_tile tile = clfi_tile_or(given, &all[i]);
        if (!is_possible(context, of, &tile))
            continue;
        chosen = tile;
        if (!args || tiles_of(args, &tile) >= wanted)
            break;
    }
    return chosen;
}

static bool fits(const clf_context *context, const matrix_variant *of, const clf_tile *tile)
{
    if (context->device.caps.matrix_unit == CLFI_MATRIX_NONE)
        return true; /* no kernel is built */
    const clf_tile own = choose(context, of, tile, NULL);
    return is_possible(context, of, &own);
}

static bool plain_fits(const clf_context *context, const clf_tile *tile)
{
    return fits(context, &plain, tile);
}

static bool split_fits(const clf_context *context, const clf_tile *tile)
{
    return fits(context, &split, tile);
}

static clf_tile plain_standard(const clf_context *context, const clf_tile *tile)
{
    return choose(context, &plain, tile, NULL);
}

static clf_tile split_standard(const clf_context *context, const clf_tile *tile)
{
    return choose(context, &split, tile, NULL);
}

const clf_tiling clfi_gemm_matrix_tiling = {plain.parameters, CLFI_TILE_PARAMETERS, plain_fits, plain_standard};
const clf_tiling clfi_gemm_matrix_split_tiling = {split.parameters, CLFI_TILE_PARAMETERS, split_fits, split_standard};

bool clfi_gemm_matrix_supports(const clf_context *context, const void *args)
{
    return context->device.caps.matrix_unit != CLFI_MATRIX_NONE && !((const clf_gemm_args *)args)->gate;
}

/* Numbers of 16 bits that represent an element of that type. */
static int parts_of(const clf_context *context, const matrix_variant *of, clf_dtype dtype)
{
    const bool is_f16 = clfi_matrix_unit_info(context->device.caps.matrix_unit)->is_f16;
    return of->is_split && dtype != (is_f16 ? CLF_F16 : CLF_BF16) ? 2 : 1;
}

/* How an operand's lines along k are read: as vectors only if they are contiguous in k. */
static const char *reads_of(const clf_gemm_args *args, const clf_gemm_operand *operand, int64_t line_stride, int64_t k_stride)
{
    return k_stride == 1 ? clfi_gemm_reads(args, operand, k_stride, line_stride, 4) : "ELEMENTS";
}

/* Whether blocks, and the parts of them that kernels read eight bytes of, begin at multiples of eight. */
static bool is_aligned(const clf_gemm_weight *weight)
{
    return (weight->blocks == CLF_WEIGHT_Q4_K || weight->blocks == CLF_WEIGHT_Q5_K) && weight->offset % 8 == 0 &&
           weight->row_stride % 8 == 0;
}

static void spec_b(clf_kernel_spec *spec, const clf_gemm_args *args, const clf_gemm_operand *b)
{
    const bool is_blocks = args->weight && args->weight->form == CLFI_GEMM_BLOCKS;
    clfi_spec_text(spec, "B_FORM", is_blocks ? "B_BLOCKS" : "B_ROWS");
    if (is_blocks) {
        clfi_spec_blocks(spec, args->weight->blocks);
        clfi_spec_int(spec, "IS_B_ALIGNED", is_aligned(args->weight));
        return;
    }
    clfi_spec_dtype(spec, "B", b->dtype);
    clfi_spec_text(spec, "B_READS", reads_of(args, b, b->column_stride, b->row_stride));
    clfi_spec_int(spec, "IS_B_K_INNER", b->row_stride <= b->column_stride);
}

static clf_status run(clf_context *context, const matrix_variant *of, const clf_gemm_args *args)
{
    const clf_device_caps *caps = &context->device.caps;
    const clf_tile tile = choose(context, of, &args->tile, args);
    const int *v = tile.value;
    const int64_t tile_m = v[WAVES_M] * v[BLOCKS_M] * SIDE, tile_n = v[WAVES_N] * v[BLOCKS_N] * SIDE;
    const bool is_blocks = args->weight && args->weight->form == CLFI_GEMM_BLOCKS;
    const clf_gemm_operand b = clfi_gemm_b_operand(args);
    const bool is_near = clfi_gemm_is_near(tile_m, args->a.row_stride, v[SLICE], args->a.column_stride) &&
                         (is_blocks || clfi_gemm_is_near(tile_n, b.column_stride, v[SLICE], b.row_stride));
    clf_kernel_spec spec = clfi_kernel_spec(is_blocks ? "gemm_matrix_blocks.cl" : "gemm_matrix.cl", "gemm_matrix");
    clfi_spec_matrix_unit(&spec, caps->matrix_unit, caps->emulates_matrix_unit);
    clfi_gemm_spec_result(&spec, args, 1);
    clfi_spec_int(&spec, "WAVES_M", v[WAVES_M]);
    clfi_spec_int(&spec, "WAVES_N", v[WAVES_N]);
    clfi_spec_int(&spec, "BLOCKS_M", v[BLOCKS_M]);
    clfi_spec_int(&spec, "BLOCKS_N", v[BLOCKS_N]);
    clfi_spec_int(&spec, "SLICE", v[SLICE]);
    clfi_spec_int(&spec, "BUFFERS", v[BUFFERS]);
    clfi_spec_int(&spec, "A_PARTS", parts_of(context, of, args->a.dtype));
    clfi_spec_int(&spec, "B_PARTS", parts_of(context, of, is_blocks ? CLF_F32 : b.dtype));
    clfi_spec_int(&spec, "TOTAL_EVERY", of->is_split ? TOTAL_K / v[SLICE] : 0);
    clfi_spec_dtype(&spec, "A", args->a.dtype);
    clfi_spec_text(&spec, "A_READS", reads_of(args, &args->a, args->a.row_stride, args->a.column_stride));
    clfi_spec_int(&spec, "IS_A_K_INNER", args->a.column_stride <= args->a.row_stride);
    spec_b(&spec, args, &b);
    clfi_spec_int(&spec, "C_VECTOR", clfi_gemm_is_c_aligned(args));
    clfi_spec_text(&spec, "OFFSET_T", is_near ? "uint" : "ulong");
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_gemm_arg_operand(&launch, args, &args->a);
    if (is_blocks) {
        clfi_arg_buffer(&launch, args->weight->buffer);
        clfi_arg_long(&launch, args->weight->offset);
        clfi_arg_long(&launch, args->weight->row_stride);
    } else {
        clfi_gemm_arg_operand(&launch, args, &b);
    }
    clfi_gemm_arg_result(&launch, args);
    const size_t groups[3] = {(size_t)clfi_ceil_div(args->n, tile_n), (size_t)clfi_ceil_div(args->m, tile_m),
                              (size_t)clfi_gemm_batch_count(args)};
    clfi_gemm_work(&launch, args);
    return clfi_launch_3d(&launch, groups, (const size_t[3]){(size_t)(v[WAVES_M] * v[WAVES_N] * lanes_of(context)), 1, 1});
}

clf_status clfi_gemm_matrix_run(clf_context *context, const void *args)
{
    return run(context, &plain, args);
}

clf_status clfi_gemm_matrix_split_run(clf_context *context, const void *args)
{
    return run(context, &split, args);
}
