/* SPDX-License-Identifier: MIT */
/* Matrix products: what every GEMM engine is asked for, the form of packed weights, and the engines' entry points. */
#ifndef CLFI_KERNEL_GEMM_H
#define CLFI_KERNEL_GEMM_H

#include "clformer/linear.h"
#include "kernel/weight_form.h"
#include "runtime/arena.h"

enum { CLFI_GEMM_MAX_BATCH = 4 };

/* A matrix per batch index: element (r, c) of batch (b0..b3) is at offset + sum b_i batch_stride[i] + r row_stride + c column_stride.
 * All in elements. dtype f32, f16 or bf16. buffer NULL: absent. */
typedef struct clf_gemm_operand {
    clf_buffer *buffer; /* borrowed */
    clf_dtype dtype;
    int64_t offset;
    int64_t row_stride, column_stride;
    int64_t batch_stride[CLFI_GEMM_MAX_BATCH]; /* 0 repeats (not in c) */
} clf_gemm_operand;

/* A as an engine converted it, in the arena, for other products of the same A: zeroed before the first of them. The caller releases the
 * arena behind the last. */
typedef struct clf_gemm_input {
    uint32_t form; /* clf_gemm_input_form with what it depends on; 0: nothing was made */
    clf_region region[2];
} clf_gemm_input;

typedef enum clf_gemm_input_form { CLFI_GEMM_INPUT_BYTES = 1 << 24, CLFI_GEMM_INPUT_PANELS = 2 << 24 } clf_gemm_input_form;

/* c[b,m,n] = f(alpha * sum_k a[b,m,k] b[b,k,n] + bias[n]) + residual[b,m,n], sums in f32.
 * Start from CLFI_GEMM_ARGS_INIT. c overlaps no input. */
typedef struct clf_gemm_args {
    int batch_rank;                     /* 0 to 4 */
    int64_t batch[CLFI_GEMM_MAX_BATCH]; /* sizes, outermost first */
    int64_t m, n, k;
    clf_gemm_operand a;        /* [m,k] */
    clf_gemm_operand b;        /* [k,n]; ignored when weight is given */
    clf_gemm_operand c;        /* [m,n] */
    clf_gemm_operand residual; /* [m,n]; buffer NULL: none */
    clf_gemm_operand bias;     /* element n at offset + n column_stride; buffer NULL: none */
    float alpha;
    clf_activation activation;
    /* column_block > 0: c is stored in blocks of that many columns: column n is at (n / column_block) block_stride + (n % column_block)
     * column_stride. It divides n. */
    int64_t column_block, block_stride;
    const clf_gemm_weight *weight; /* B in forms of engines, no batch; for an engine in one that it reads. NULL: b as it lies */
    const clf_gemm_weight *gate;   /* a second weight like the first, without bias: c = f(alpha a b + bias) * (a gate); NULL: none */
    clf_gemm_input *input;         /* NULL: A is that of no other product */
    clf_tile tile;                 /* for the engine that runs it; what does not fit there was refused before */
} clf_gemm_args;

#define CLFI_GEMM_ARGS_INIT \
    {                       \
        .alpha = 1.0f       \
    }

/* Engines (op/engines.h); args: clf_gemm_args. */
bool clfi_gemm_packed_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_packed_run(clf_context *context, const void *args);
bool clfi_gemm_gemv_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_gemv_run(clf_context *context, const void *args);
bool clfi_gemm_blocks_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_blocks_run(clf_context *context, const void *args);
bool clfi_gemm_bundles_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_bundles_run(clf_context *context, const void *args);
bool clfi_gemm_bytes_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_bytes_run(clf_context *context, const void *args);
clf_status clfi_gemm_byte_pairs_run(clf_context *context, const void *args);
bool clfi_gemm_byte_quads_supports(const clf_context *context, const void *args);
bool clfi_gemm_byte_quads_suits(const clf_context *context, const void *args);
clf_status clfi_gemm_byte_quads_run(clf_context *context, const void *args);
bool clfi_gemm_clblast_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_clblast_run(clf_context *context, const void *args);
bool clfi_gemm_tiled_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_tiled_run(clf_context *context, const void *args);
bool clfi_gemm_tiled_half_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_tiled_half_run(clf_context *context, const void *args);
bool clfi_gemm_matrix_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_matrix_run(clf_context *context, const void *args);
clf_status clfi_gemm_matrix_split_run(clf_context *context, const void *args);
/* The rows of the fewest tiles that fill the device against a weight of n columns: from there on an item of `tiled` has its largest
 * results. 0: never. */
int64_t clfi_gemm_tiled_full_rows(const clf_context *context, int64_t n);
bool clfi_gemm_staged_supports(const clf_context *context, const void *args);
bool clfi_gemm_staged_suits(const clf_context *context, const void *args);
clf_status clfi_gemm_staged_run(clf_context *context, const void *args);
bool clfi_gemm_interleaved_supports(const clf_context *context, const void *args);
bool clfi_gemm_interleaved_suits(const clf_context *context, const void *args);
clf_status clfi_gemm_interleaved_run(clf_context *context, const void *args);

/* Whether one batch dimension lies element by element in memory: what `interleaved` is made for. */
bool clfi_gemm_has_lanes(const clf_gemm_args *args);

extern const clf_tiling clfi_gemm_packed_tiling, clfi_gemm_gemv_tiling, clfi_gemm_tiled_tiling, clfi_gemm_tiled_half_tiling,
    clfi_gemm_interleaved_tiling, clfi_gemm_matrix_tiling, clfi_gemm_matrix_split_tiling;

#endif
