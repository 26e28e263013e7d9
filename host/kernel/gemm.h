/* SPDX-License-Identifier: MIT */
/* Matrix products: the arguments of every GEMM engine and the engines' entry points. */
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

/* A as an engine converted it, kept in the arena for further products of the same A. The caller zeroes it before the first product and
 * releases the arena after the last. */
typedef struct clf_gemm_input {
    uint32_t form; /* clf_gemm_input_form, and in the lower bits the engine's parameters of it; 0: nothing was converted */
    clf_region region[2];
} clf_gemm_input;

typedef enum clf_gemm_input_form {
    CLFI_GEMM_INPUT_BYTES = 1 << 24,
    CLFI_GEMM_INPUT_PANELS = 2 << 24,
    CLFI_GEMM_INPUT_BF16 = 3 << 24
} clf_gemm_input_form;

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
    const clf_gemm_weight *weight; /* packed B without batch; an engine gets it in a form that it reads. NULL: b is used */
    const clf_gemm_weight *gate;   /* a second weight like the first, without bias: c = f(alpha a b + bias) * (a gate); NULL: none */
    clf_gemm_input *input;         /* where a converted A is kept for other products; NULL: there are none */
    clf_tile tile;                 /* of the engine that runs the product; its clf_tiling has checked it */
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
bool clfi_gemm_bf16_supports(const clf_context *context, const void *args);
uint64_t clfi_gemm_bf16_scratch(const clf_gemm_args *args);
uint64_t clfi_gemm_bf16_pairs_scratch(const clf_gemm_args *args);
clf_status clfi_gemm_bf16_run(clf_context *context, const void *args);
clf_status clfi_gemm_bf16_pairs_run(clf_context *context, const void *args);
/* Number of rows from which on each item of `tiled` computes its largest number of results for a weight of n columns; with fewer rows such
 * items would not fill the device. 0: never. */
int64_t clfi_gemm_tiled_full_rows(const clf_context *context, int64_t n);
bool clfi_gemm_staged_supports(const clf_context *context, const void *args);
bool clfi_gemm_staged_suits(const clf_context *context, const void *args);
clf_status clfi_gemm_staged_run(clf_context *context, const void *args);
bool clfi_gemm_interleaved_supports(const clf_context *context, const void *args);
bool clfi_gemm_interleaved_suits(const clf_context *context, const void *args);
clf_status clfi_gemm_interleaved_run(clf_context *context, const void *args);

/* Whether the batches of one dimension are adjacent elements of an operand, as `interleaved` and `staged` expect. */
bool clfi_gemm_has_lanes(const clf_gemm_args *args);

extern const clf_tiling clfi_gemm_packed_tiling, clfi_gemm_gemv_tiling, clfi_gemm_tiled_tiling, clfi_gemm_tiled_half_tiling,
    clfi_gemm_interleaved_tiling, clfi_gemm_matrix_tiling, clfi_gemm_matrix_split_tiling;

#endif
