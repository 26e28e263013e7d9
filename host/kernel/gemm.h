/* SPDX-License-Identifier: MIT */
/* Matrix products: what every GEMM engine is asked for, the form of packed weights, and the engines' entry points. */
#ifndef CLFI_KERNEL_GEMM_H
#define CLFI_KERNEL_GEMM_H

#include "clformer/linear.h"
#include "kernel/tile.h"
#include "tensor/view.h"

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

typedef struct clf_gemm_weight clf_gemm_weight;

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
    const clf_gemm_weight *weight; /* B packed by an engine, no batch; NULL: b as it lies */
    const clf_gemm_weight *gate;   /* a second weight like the first, without bias: c = f(alpha a b + bias) * (a gate); NULL: none */
    clf_tile tile;                 /* for the engine that runs it; what does not fit there was refused before */
} clf_gemm_args;

#define CLFI_GEMM_ARGS_INIT \
    {                       \
        .alpha = 1.0f       \
    }

/* How an engine wants a constant B. */
typedef enum clf_gemm_form {
    CLFI_GEMM_ROWS,   /* [n,k] row-major in its storage type: a torch weight as it is */
    CLFI_GEMM_PANELS, /* panels of `panel` columns, [n / panel][k][panel], zero-padded in n */
    CLFI_GEMM_BLOCKS, /* quantised rows as they are stored; offset and row_stride in bytes */
    CLFI_GEMM_BUNDLES /* quantised rows, 16 side by side (cl/shared/weight_bundles.cl) */
} clf_gemm_form;

/* A constant B [k,n] in an engine's form, with the bias as f32. Owns references to its buffers. */
struct clf_gemm_weight {
    clf_gemm_form form;
    clf_dtype dtype;
    clf_weight_type blocks; /* BLOCKS, BUNDLES: their type */
    int64_t n, k;
    int64_t panel; /* PANELS: columns in a panel */
    clf_buffer *buffer;
    int64_t offset, row_stride; /* element of (n = 0, k = 0); ROWS: elements between rows */
    clf_buffer *columns;        /* ROWS: [k,n] f32 beside them, for an engine that reads it so; NULL: none */
    clf_buffer *bias;           /* f32, n values rounded up to a panel with zeros; NULL: none */
};

/* Weights [N_i, K] side by side in an engine's form, for its kernels of that tile; contract of clfi_linear_create. The caller clears
 * *out. */
clf_status clfi_gemm_pack_weight_rows(clf_context *context, const clf_tile *tile, int parts, const clf_view *weights,
                                      const clf_view *biases, clf_gemm_weight *out);
clf_status clfi_gemm_pack_weight_panels(clf_context *context, const clf_tile *tile, int parts, const clf_view *weights,
                                        const clf_view *biases, clf_gemm_weight *out);
/* Adds the transpose to a weight of rows. OUT_OF_MEMORY: the weight stays as it was. */
clf_status clfi_gemm_pack_weight_columns(clf_context *context, clf_gemm_weight *weight);
/* The same of quantised weights, all of one type. */
clf_status clfi_gemm_pack_weight_blocks(clf_context *context, const clf_tile *tile, int parts, const clf_view *weights,
                                        const clf_view *biases, clf_gemm_weight *out);
clf_status clfi_gemm_pack_weight_bundles(clf_context *context, const clf_tile *tile, int parts, const clf_view *weights,
                                         const clf_view *biases, clf_gemm_weight *out);
/* Copies the rows of a weight of numbers that still lie in `lent`. On failure the weight stays as it was. */
clf_status clfi_gemm_weight_own(clf_context *context, clf_gemm_weight *weight, const clf_buffer *lent);
void clfi_gemm_weight_clear(clf_gemm_weight *weight);

/* Whether a form is of quantised weights. */
bool clfi_gemm_is_of_blocks(clf_gemm_form form);

/* How the rows of the engine table take a constant B. */
typedef struct clf_gemm_traits {
    clf_gemm_form form;
    clf_status (*pack)(clf_context *context, const clf_tile *tile, int parts, const clf_view *weights, const clf_view *biases,
                       clf_gemm_weight *out); /* once, at load */
    int64_t most_rows; /* made for products of so few rows; beyond them it can, but should not be used. 0: any number */
    bool reads_floats; /* B of another storage type is converted in every product: it can, but should not be used */
} clf_gemm_traits;

/* Engines (op/engines.h); args: clf_gemm_args. */
bool clfi_gemm_packed_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_packed_run(clf_context *context, const void *args);
bool clfi_gemm_gemv_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_gemv_run(clf_context *context, const void *args);
bool clfi_gemm_blocks_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_blocks_run(clf_context *context, const void *args);
bool clfi_gemm_bundles_supports(const clf_context *context, const void *args);
clf_status clfi_gemm_bundles_run(clf_context *context, const void *args);
clf_status clfi_gemm_clblast_pack_weight(clf_context *context, const clf_tile *tile, int parts, const clf_view *weights,
                                         const clf_view *biases, clf_gemm_weight *out);
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
bool clfi_gemm_matrix_split_supports(const clf_context *context, const void *args);
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
