/* SPDX-License-Identifier: MIT */
/* Forms of constant weights (their table is in gemm_forms.c), and packing into them. The engine table says which forms an engine reads. */
#ifndef CLFI_KERNEL_WEIGHT_FORM_H
#define CLFI_KERNEL_WEIGHT_FORM_H

#include "kernel/tile.h"
#include "tensor/view.h"

typedef enum clf_gemm_form {
    CLFI_GEMM_NO_FORM,    /* no weight: B is an operand like A */
    CLFI_GEMM_ROWS,       /* [n,k] row-major in its storage type: a torch weight as it is */
    CLFI_GEMM_COLUMNS,    /* [k,n] row-major, f32 */
    CLFI_GEMM_PANELS,     /* panels of `panel` columns, [n / panel][k][panel], zero-padded in n */
    CLFI_GEMM_BLOCKS,     /* quantised rows as they are stored; offset and row_stride in bytes */
    CLFI_GEMM_BUNDLES,    /* quantised rows, 16 interleaved (cl/shared/weight_bundles.cl) */
    CLFI_GEMM_BF16,       /* bfloat16 numbers in blocks (cl/cpu/bf16_blocks.cl) */
    CLFI_GEMM_BF16_PAIRS, /* the same, two for an element that is not exact as one */
    CLFI_GEMM_FORM_COUNT
} clf_gemm_form;

/* A constant B [k,n] in a form, with the bias as f32. Owns references to its buffers. */
typedef struct clf_gemm_weight {
    clf_gemm_form form;
    clf_dtype dtype;
    clf_weight_type blocks; /* of quantised forms: their type */
    int64_t n, k;
    int64_t panel; /* interleaved rows of the weight, which are columns of the result */
    clf_buffer *buffer;
    int64_t offset, row_stride;     /* element of (n = 0, k = 0); ROWS, COLUMNS, BLOCKS: between rows of the form */
    clf_buffer *bias;               /* f32, n values, then zeros (clfi_gemm_padded_bias); NULL: none */
    struct clf_gemm_weight *second; /* the weight in another form, without bias; NULL: none. Owned */
} clf_gemm_weight;

/* One form. */
typedef struct clf_gemm_form_info {
    const char *name;
    bool is_quantised;
    bool is_stored;             /* a weight is used where it lies, if it is one part with rows that are contiguous */
    int most_panel;             /* width of the widest panel; padding adds fewer rows than that */
    const char *tile_parameter; /* the parameter of an engine's tile on which the layout depends; NULL: none */
    /* Sets panel and row_stride of a weight whose n, k and type are set. *out_bytes: its size. False: it is too large, or the form does not
     * take its type. */
    bool (*lay)(const clf_context *context, const clf_tile *tile, clf_gemm_weight *weight, size_t *out_bytes);
    /* Enqueues the packing of a part [N,K] as rows first .. first + N. */
    clf_status (*pack)(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight);
} clf_gemm_form_info;

/* Static storage. */
const clf_gemm_form_info *clfi_gemm_form_info(clf_gemm_form form);

/* How an engine takes B. */
#define CLFI_GEMM_READS(form) (1u << CLFI_GEMM_##form)
typedef struct clf_gemm_traits {
    unsigned reads;       /* CLFI_GEMM_READS of each form */
    clf_gemm_form form;   /* into which it packs a weight once, at load */
    clf_gemm_form second; /* a further form, packed if the device keeps one and half of its memory stays free. It is then preferred for
                             reading. 0: none */
    int64_t most_rows;    /* the engine is made for at most this many rows; it can compute more, but should not. 0: any number */
    bool reads_floats;    /* made for a B of f32; any other type is converted in every product, so the engine should not be used for it */
} clf_gemm_traits;

/* Whether weights may have a second form on the device. Memory that it shares with the host holds nothing twice. */
bool clfi_gemm_keeps_second(const clf_context *context);

/* Whether an engine reads such a weight; NULL: whether it multiplies two operands. */
bool clfi_gemm_takes_weight(const clf_gemm_traits *traits, const clf_gemm_weight *weight);

/* The weight in the form in which an engine reads it; NULL where there is no weight. */
const clf_gemm_weight *clfi_gemm_weight_for(const clf_gemm_traits *traits, const clf_gemm_weight *weight);

/* Packs weights [N_i, K] one below the other into an engine's form, or forms, for its kernels of that tile (clfi_linear_create). The caller
 * clears *out. */
clf_status clfi_gemm_pack_weight(clf_context *context, const clf_gemm_traits *traits, const clf_tile *tile, int parts,
                                 const clf_view *weights, const clf_view *biases, clf_gemm_weight *out);

/* Copies a weight that still uses the buffer `lent` into its own buffer. On failure the weight stays as it was. */
clf_status clfi_gemm_weight_own(clf_context *context, clf_gemm_weight *weight, const clf_buffer *lent);
void clfi_gemm_weight_clear(clf_gemm_weight *weight);

/* *out: how many of the `rows` rows of a weight one allocation holds in the form (clfi_rows_per_block). */
clf_status clfi_gemm_rows_per_block(const clf_context *context, clf_gemm_form form, const clf_view *weight, int64_t rows, int64_t *out);

#endif
