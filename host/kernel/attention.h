/* SPDX-License-Identifier: MIT */
/* Launchers of the fused attention kernels: cl/cpu/attention_vector.cl, cl/gpu/attention_group.cl, cl/gpu/attention_matrix.cl and
 * cl/any/attention_generic.cl. */
#ifndef CLFI_KERNEL_ATTENTION_H
#define CLFI_KERNEL_ATTENTION_H

#include "clformer/softmax.h"
#include "tensor/view.h"

/* One tile of queries of one sequence; cl/shared/attention_tile.cl declares the same. */
typedef struct clf_attention_tile {
    cl_int q_row, q_count, q_index, k_begin, k_count, sequence, diagonal, unused;
} clf_attention_tile;

/* Checked arguments: q [H,Tq,d], k [G,Tk,d], v [G,Tk,dv] with unit last strides, out [Tq,H,dv]. */
typedef struct clf_attention_call {
    const clf_buffer *tiles; /* clf_attention_tile[tile_count] */
    int32_t tile_count;
    int32_t tile_queries;    /* queries per tile at most: 16, 32 or 64 */
    int32_t max_keys;        /* longest sequence of keys */
    const clf_view *q, *k, *v, *out;
    const clf_view *key_mask; /* u8 [Tk] or NULL */
    const clf_view *lengths;  /* i32 [sequences] or NULL */
    const clf_view *keep;     /* i32 [sequences,heads,ceil(Q/32),K] or NULL (kernel/attention_keep.h) */
    const clf_view *bias;     /* f32 [H, 2R + 1] or NULL */
    int32_t window;           /* 0: none */
    float scale;
    bool is_causal;
    clf_empty_rows empty_rows;
} clf_attention_call;

/* supports: whether a kernel can run the call (a clf_attention_call) on the context's device; run: runs it. Enqueued. */
bool clfi_attention_vector_supports(const clf_context *context, const void *call);
clf_status clfi_attention_vector_run(clf_context *context, const void *call);
bool clfi_attention_group_supports(const clf_context *context, const void *call);
clf_status clfi_attention_group_run(clf_context *context, const void *call);
bool clfi_attention_matrix_supports(const clf_context *context, const void *call);
clf_status clfi_attention_matrix_run(clf_context *context, const void *call);
bool clfi_attention_matrix_split_supports(const clf_context *context, const void *call);
clf_status clfi_attention_matrix_split_run(clf_context *context, const void *call);
bool clfi_attention_generic_supports(const clf_context *context, const void *call);
clf_status clfi_attention_generic_run(clf_context *context, const void *call);

/* Shared by all these launchers: macros of head sizes and masks, and the arguments of the kernels, which all have the same order. */
void clfi_attention_spec(clf_kernel_spec *spec, const clf_attention_call *call);
void clfi_attention_arguments(clf_launch *launch, const clf_attention_call *call);

/* clfi_launch_work, as if every tile were full and saw as many keys as the longest sequence has. */
void clfi_attention_work(clf_launch *launch, const clf_attention_call *call);

#endif
