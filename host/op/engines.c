/* SPDX-License-Identifier: MIT */
/* The tables of engines of every op. The first row that suits a case runs it, else the first that can run it.
 *
 * Thresholds for devices that were not measured (clformer tune measures; op/tuned.h). bench_op shows on CPUs that `packed` wins at every
 * size, unless the batches lie element by element in memory, which `staged` and `interleaved` are made for. On other devices one work-group
 * of `tiled` holds 64 x 64 results. Below some ten million products CLBlast's own packing kernels cost more than they gain. Products of up
 * to 16 rows take the time of reading B once. In the other ops, `vector` is for CPUs (one work-item per group, wide vectors), `group` for
 * GPUs (work-items share a row), and `generic` for layouts that neither of them takes. */
#include "op/engines.h"

#include "base/alloc.h"
#include "kernel/attention.h"
#include "kernel/cached_attention.h"
#include "kernel/embedding.h"
#include "kernel/gemm_common.h"
#include "kernel/log_softmax.h"
#include "kernel/pooling.h"
#include "kernel/row_norm.h"
#include "kernel/softmax.h"
#include "kernel/top_k.h"
#include "runtime/matrix_rate.h"

static bool has_fast_compiler(const clf_device_caps *caps)
{
    return !caps->slow_compiler;
}

static bool has_byte_dot(const clf_device_caps *caps)
{
    return caps->has_byte_dot;
}

/* Byte dot products with 32-bit sums. With narrower sums, two bytes per input cost as much as floats of the weights. */
static bool has_wide_byte_dot(const clf_device_caps *caps)
{
    return caps->has_byte_dot && !caps->narrow_byte_dot;
}

static bool has_half(const clf_device_caps *caps)
{
    return caps->has_fp16;
}

static bool on_cpu(const clf_context *context, const void *args)
{
    (void)args;
    return context->device.caps.is_cpu;
}

static bool on_gpu(const clf_context *context, const void *args)
{
    return !on_cpu(context, args);
}

/* Software rasterizers are CPUs that compile and run the kernels of GPUs best. */
static bool on_vector_cpu(const clf_context *context, const void *args)
{
    return on_cpu(context, args) && !context->device.caps.short_loops;
}

static bool not_on_vector_cpu(const clf_context *context, const void *args)
{
    return !on_vector_cpu(context, args);
}

static bool big_product_on_gpu(const clf_context *context, const void *args)
{
    const clf_gemm_args *gemm = args;
    const double products = (double)gemm->m * (double)gemm->n * (double)gemm->k;
    return on_gpu(context, args) && clfi_gemm_b_operand(gemm).dtype == CLF_F32 && gemm->m >= 64 && gemm->n >= 64 && gemm->k >= 32 &&
           products >= 1e7;
}

static bool has_matrix_unit(const clf_device_caps *caps)
{
    return caps->matrix_unit != CLFI_MATRIX_NONE && !clfi_matrix_unit_is_cpu(caps->matrix_unit);
}

static bool has_bf16_unit(const clf_device_caps *caps)
{
    return clfi_matrix_unit_is_cpu(caps->matrix_unit);
}

/* Whether a product fills tiles of a matrix unit. */
static bool fills_tiles(const clf_gemm_args *args)
{
    return args->m >= 64 && args->n >= 64 && args->k >= 32;
}

/* Such products, on a unit of a kind that was seen to multiply. */
static bool tiles_on_gpu(const clf_context *context, const void *args)
{
    return on_gpu(context, args) && clfi_matrix_unit_info(context->device.caps.matrix_unit)->is_verified && fills_tiles(args);
}

/* Whether the unit's measured rate is at least `ratio` times that of float32 instructions. */
static bool has_unit_of(const clf_context *context, double ratio)
{
    const clf_matrix_rates rates = clfi_matrix_rates(context);
    return rates.floats > 0 && rates.unit >= ratio * rates.floats;
}

/* `matrix_split` and `bf16_pairs` compute three products on the unit in place of one. */
static bool has_strong_unit(const clf_context *context)
{
    return has_unit_of(context, 4);
}

/* `bf16` packs its operands first. Some processors have the instruction, but it is slower there than float32. */
static bool has_fast_unit(const clf_context *context)
{
    return has_unit_of(context, 1.5);
}

/* The same on a CPU's unit, for which both operands are packed unless one is a weight in its form. Products of bytes are faster than
 * AVX512-BF16 with quantised weights. */
static bool tiles_on_cpu(const clf_context *context, const void *args)
{
    const clf_gemm_args *gemm = args;
    const clf_matrix_unit unit = context->device.caps.matrix_unit;
    const bool is_quantised = gemm->weight && gemm->weight->blocks != CLF_WEIGHT_F32;
    return clfi_matrix_unit_info(unit)->is_verified && (unit == CLFI_MATRIX_X86_AMX || !is_quantised) &&
           (gemm->weight || fills_tiles(gemm));
}

/* Sharing a row between work-items is faster if its keys are adjacent. Otherwise neighbouring rows are read together, unless they are too
 * few to keep the device busy. On an H200 1,024 rows of 4,096 keys took 1.08 ms, shared 0.15 ms; 16,384 of 256 keys took 0.05 ms, shared
 * 0.14 ms. */
static bool shared_rows_on_gpu(const clf_context *context, const void *args)
{
    enum { ROWS_PER_UNIT = 64 };
    return on_gpu(context, args) &&
           (clfi_softmax_is_unit(args) || clfi_softmax_rows(args) < ROWS_PER_UNIT * (int64_t)context->device.caps.compute_units);
}

/* How engines take B: the forms that they read, and the one or two forms into which they pack a weight. */
#define READS(form) CLFI_GEMM_READS(form)
static const clf_gemm_traits operands = {.reads = READS(NO_FORM), .form = CLFI_GEMM_ROWS};
static const clf_gemm_traits rows = {.reads = READS(NO_FORM) | READS(ROWS), .form = CLFI_GEMM_ROWS};
static const clf_gemm_traits rows_or_blocks = {.reads = READS(NO_FORM) | READS(ROWS) | READS(BLOCKS), .form = CLFI_GEMM_ROWS};
static const clf_gemm_traits rows_for_few = {.reads = READS(NO_FORM) | READS(ROWS), .form = CLFI_GEMM_ROWS, .most_rows = 16};
static const clf_gemm_traits rows_and_columns = {
    .reads = READS(NO_FORM) | READS(ROWS) | READS(COLUMNS), .form = CLFI_GEMM_ROWS, .second = CLFI_GEMM_COLUMNS, .reads_floats = true};
static const clf_gemm_traits blocks = {.reads = READS(BLOCKS), .form = CLFI_GEMM_BLOCKS};
static const clf_gemm_traits bundles = {.reads = READS(BUNDLES), .form = CLFI_GEMM_BUNDLES};
static const clf_gemm_traits bf16 = {.reads = READS(NO_FORM) | READS(BF16) | READS(BUNDLES), .form = CLFI_GEMM_BF16};
static const clf_gemm_traits bf16_pairs = {.reads = READS(NO_FORM) | READS(BF16_PAIRS) | READS(BUNDLES), .form = CLFI_GEMM_BF16_PAIRS};
static const clf_gemm_traits panels = {.reads = READS(NO_FORM) | READS(PANELS), .form = CLFI_GEMM_PANELS};

static bool on_gpu_with_fast_halves(const clf_context *context, const void *args)
{
    return on_gpu(context, args) && !context->device.caps.slow_halves;
}

static bool few_rows_on_gpu(const clf_context *context, const void *args)
{
    return on_gpu(context, args) && ((const clf_gemm_args *)args)->m <= rows_for_few.most_rows;
}

/* Work-items of CLBlast's kernels on a device that it does not know. Tuned parameters reach only some of them: those that transpose and pad
 * keep CLBlast's own. */
enum { CLBLAST_GROUP_SIZE = 256 };

static bool holds_clblast_groups(const clf_device_caps *caps)
{
    return caps->max_work_group_size >= CLBLAST_GROUP_SIZE;
}

/* Rows without a precision keep the highest. */
static const clf_engine gemm[] = {
    {.name = "staged",
     .runs_on = has_fast_compiler,
     .supports = clfi_gemm_staged_supports,
     .suits = clfi_gemm_staged_suits,
     .run = clfi_gemm_staged_run,
     .gemm = &operands},
    {.name = "interleaved",
     .supports = clfi_gemm_interleaved_supports,
     .suits = clfi_gemm_interleaved_suits,
     .run = clfi_gemm_interleaved_run,
     .tiling = &clfi_gemm_interleaved_tiling,
     .gemm = &operands},
    {.name = "matrix",
     .precision = CLF_PRECISION_MEDIUM,
     .runs_on = has_matrix_unit,
     .probe = CLFI_PROBE_MATRIX,
     .supports = clfi_gemm_matrix_supports,
     .suits = tiles_on_gpu,
     .run = clfi_gemm_matrix_run,
     .tiling = &clfi_gemm_matrix_tiling,
     .gemm = &rows_or_blocks,
     .accuracy =
         "products of 4,096 random numbers on an H100: off by 2.3e-3 in the mean square, by 1.9e-4 of the sum of their sizes at most"},
    {.name = "matrix_split",
     .precision = CLF_PRECISION_HIGH,
     .runs_on = has_matrix_unit,
     .probe = CLFI_PROBE_MATRIX,
     .supports = clfi_gemm_matrix_supports,
     .pays = has_strong_unit,
     .suits = tiles_on_gpu,
     .run = clfi_gemm_matrix_split_run,
     .tiling = &clfi_gemm_matrix_split_tiling,
     .gemm = &rows_or_blocks,
     .accuracy =
         "products of 4,096 random numbers on an H100: off by 4.4e-6 in the mean square, by 3.9e-7 of the sum of their sizes at most"},
    {.name = "bf16",
     .precision = CLF_PRECISION_MEDIUM,
     .runs_on = has_bf16_unit,
     .probe = CLFI_PROBE_MATRIX,
     .supports = clfi_gemm_bf16_supports,
     .pays = has_fast_unit,
     .suits = tiles_on_cpu,
     .run = clfi_gemm_bf16_run,
     .scratch = clfi_gemm_bf16_scratch,
     .gemm = &bf16,
     .accuracy = "MiniLM, 300 texts: features of the embeddings, up to 0.23, off by 1.4e-3 at most, 2.8e-4 in the mean square; cosines "
                 "0.99996 and above"},
    {.name = "bf16_pairs",
     .precision = CLF_PRECISION_HIGH,
     .runs_on = has_bf16_unit,
     .probe = CLFI_PROBE_MATRIX,
     .supports = clfi_gemm_bf16_supports,
     .pays = has_strong_unit,
     .suits = tiles_on_cpu,
     .run = clfi_gemm_bf16_pairs_run,
     .scratch = clfi_gemm_bf16_pairs_scratch,
     .gemm = &bf16_pairs,
     .accuracy = "MiniLM, 300 texts: features of the embeddings, up to 0.23, off by 2.5e-6 at most, 4.9e-7 in the mean square; cosines "
                 "0.9999999998 and above"},
    {.name = "bytes",
     .precision = CLF_PRECISION_MEDIUM,
     .runs_on = has_byte_dot,
     .probe = CLFI_PROBE_BYTE_DOT,
     .supports = clfi_gemm_bytes_supports,
     .run = clfi_gemm_bytes_run,
     .gemm = &bundles,
     .accuracy =
         "SmolLM2-135M Q4_1: perplexity of three texts 0.25 to 0.7 % higher, logits up to 32 off by 1.1 at most, 0.19 in the mean square"},
    {.name = "byte_pairs",
     .precision = CLF_PRECISION_HIGH,
     .runs_on = has_wide_byte_dot,
     .probe = CLFI_PROBE_BYTE_DOT,
     .supports = clfi_gemm_bytes_supports,
     .run = clfi_gemm_byte_pairs_run,
     .gemm = &bundles,
     .accuracy =
         "SmolLM2-135M Q4_1: perplexity of two texts 0.0005 % higher, logits up to 32 off by 0.005 at most, 0.0009 in the mean square"},
    {.name = "byte_quads",
     .runs_on = has_wide_byte_dot,
     .probe = CLFI_PROBE_BYTE_DOT,
     .supports = clfi_gemm_byte_quads_supports,
     .suits = clfi_gemm_byte_quads_suits,
     .run = clfi_gemm_byte_quads_run,
     .gemm = &bundles},
    {.name = "bundles",
     .runs_on = has_fast_compiler,
     .supports = clfi_gemm_bundles_supports,
     .suits = on_cpu,
     .run = clfi_gemm_bundles_run,
     .gemm = &bundles},
    {.name = "blocks", .supports = clfi_gemm_blocks_supports, .suits = on_gpu, .run = clfi_gemm_blocks_run, .gemm = &blocks},
    {.name = "packed",
     .runs_on = has_fast_compiler,
     .supports = clfi_gemm_packed_supports,
     .suits = on_cpu,
     .run = clfi_gemm_packed_run,
     .tiling = &clfi_gemm_packed_tiling,
     .gemm = &panels},
    {.name = "gemv",
     .supports = clfi_gemm_gemv_supports,
     .suits = few_rows_on_gpu,
     .run = clfi_gemm_gemv_run,
     .tiling = &clfi_gemm_gemv_tiling,
     .gemm = &rows_for_few},
    {.name = "tiled_half",
     .precision = CLF_PRECISION_MEDIUM,
     .runs_on = has_half,
     .probe = CLFI_PROBE_HALF,
     .supports = clfi_gemm_tiled_half_supports,
     .suits = on_gpu_with_fast_halves,
     .run = clfi_gemm_tiled_half_run,
     .tiling = &clfi_gemm_tiled_half_tiling,
     .gemm = &rows,
     .accuracy = "MiniLM, 300 texts: features of the embeddings, up to 0.41, off by 3.4e-4 at most, 5.0e-5 in the mean square; cosines "
                 "0.9999984 and "
                 "above"},
    {.name = "clblast",
     .runs_on = holds_clblast_groups,
     .supports = clfi_gemm_clblast_supports,
     .suits = big_product_on_gpu,
     .run = clfi_gemm_clblast_run,
     .gemm = &rows_and_columns},
    {.name = "tiled", .supports = clfi_gemm_tiled_supports, .run = clfi_gemm_tiled_run, .tiling = &clfi_gemm_tiled_tiling, .gemm = &rows},
};

#define ROW(NAME, SUPPORTS, SUITS, RUN)                                        \
    {                                                                          \
        .name = (NAME), .supports = (SUPPORTS), .suits = (SUITS), .run = (RUN) \
    }

static const clf_engine softmax[] = {
    ROW("group", clfi_softmax_group_supports, shared_rows_on_gpu, clfi_softmax_group_run),
    ROW("lines", clfi_softmax_lines_supports, on_cpu, clfi_softmax_lines_run),
    ROW("vector", clfi_softmax_vector_supports, on_cpu, clfi_softmax_vector_run),
    ROW("generic", clfi_softmax_generic_supports, NULL, clfi_softmax_generic_run),
};

static const clf_engine log_softmax[] = {
    ROW("vector", clfi_log_softmax_vector_supports, on_cpu, clfi_log_softmax_vector),
    ROW("group", clfi_log_softmax_group_supports, on_gpu, clfi_log_softmax_group),
};

static const clf_engine row_norm[] = {
    ROW("vector", clfi_row_norm_vector_supports, on_cpu, clfi_row_norm_vector),
    ROW("group", clfi_row_norm_group_supports, on_gpu, clfi_row_norm_group),
};

/* Barriers cost a CPU more than the sharing of keys saves. */
static const clf_engine attention[] = {
    {.name = "matrix",
     .precision = CLF_PRECISION_MEDIUM,
     .runs_on = has_matrix_unit,
     .probe = CLFI_PROBE_MATRIX,
     .supports = clfi_attention_matrix_supports,
     .run = clfi_attention_matrix_run,
     .shares_keys = true,
     .accuracy = "MiniLM, 300 texts, bfloat16: features of the embeddings, up to 0.41, off by 5.2e-4 at most, 1.0e-4 in the mean square"},
    {.name = "matrix_split",
     .precision = CLF_PRECISION_HIGH,
     .runs_on = has_matrix_unit,
     .probe = CLFI_PROBE_MATRIX,
     .supports = clfi_attention_matrix_split_supports,
     .pays = has_strong_unit,
     .run = clfi_attention_matrix_split_run,
     .shares_keys = true,
     .accuracy = "MiniLM, 300 texts, bfloat16: features of the embeddings, up to 0.41, off by 1.1e-6 at most, 1.8e-7 in the mean square"},
    {.name = "group",
     .supports = clfi_attention_group_supports,
     .suits = not_on_vector_cpu,
     .run = clfi_attention_group_run,
     .shares_keys = true},
    ROW("vector", clfi_attention_vector_supports, on_vector_cpu, clfi_attention_vector_run),
    ROW("generic", clfi_attention_generic_supports, NULL, clfi_attention_generic_run),
};

static const clf_engine cached_attention[] = {
    ROW("vector", clfi_cached_attention_vector_supports, on_cpu, clfi_cached_attention_vector),
    ROW("group", clfi_cached_attention_group_supports, on_gpu, clfi_cached_attention_group),
};

static const clf_engine embedding[] = {
    ROW("vector", clfi_embedding_vector_supports, on_cpu, clfi_embedding_vector),
    ROW("group", clfi_embedding_group_supports, on_gpu, clfi_embedding_group),
};

static const clf_engine pool[] = {
    ROW("vector", clfi_pool_supports, on_cpu, clfi_pool_vector),
    ROW("group", clfi_pool_supports, on_gpu, clfi_pool_group),
};

static const clf_engine top_k[] = {
    ROW("vector", clfi_top_k_vector_supports, on_cpu, clfi_top_k_vector),
    ROW("group", clfi_top_k_group_supports, on_gpu, clfi_top_k_group),
};

#define TABLE(op, engines)                 \
    {                                      \
        op, engines, COUNT(engines), false \
    }
#define PRODUCTS(op, engines)             \
    {                                     \
        op, engines, COUNT(engines), true \
    }

const clf_engine_table clfi_engine_tables[CLF_OP_COUNT] = {
    [CLF_OP_GEMM] = PRODUCTS("gemm", gemm),
    [CLF_OP_SOFTMAX] = TABLE("softmax", softmax),
    [CLF_OP_LOG_SOFTMAX] = TABLE("log_softmax", log_softmax),
    [CLF_OP_LAYER_NORM] = TABLE("layer_norm", row_norm),
    [CLF_OP_RMS_NORM] = TABLE("rms_norm", row_norm),
    [CLF_OP_L2_NORMALIZE] = TABLE("l2_normalize", row_norm),
    [CLF_OP_ATTENTION] = PRODUCTS("attention", attention),
    [CLF_OP_CACHED_ATTENTION] = PRODUCTS("cached_attention", cached_attention),
    [CLF_OP_EMBEDDING] = TABLE("embedding", embedding),
    [CLF_OP_POOL] = TABLE("pool", pool),
    [CLF_OP_TOP_K] = TABLE("top_k", top_k),
};
