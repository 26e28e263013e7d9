/* SPDX-License-Identifier: MIT */
/* Fused attention over packed ragged batches: softmax(scale q k^T) v without ever storing the scores. */
#ifndef CLFI_OP_ATTENTION_H
#define CLFI_OP_ATTENTION_H

#include "clformer/softmax.h"
#include "tensor/view.h"

/* One sequence: which rows of the packed queries attend to which rows of the packed keys. */
typedef struct clf_attention_span {
    int32_t q_begin, q_count;
    int32_t k_begin, k_count;
    int32_t diagonal; /* causal attention: query i of the span uses keys j <= i + diagonal; 0 for whole sequences, the number of cached
                       * keys before the first query for decoding */
} clf_attention_span;

/* The sequences of a batch and the tiles that kernels work on. Filled once per forward pass, used by every layer and any number of
 * heads. It keeps its host and device memory, so that filling it again allocates nothing once it is large enough. */
typedef struct clf_attention_batch clf_attention_batch;

clf_status clfi_attention_batch_create(clf_context *context, clf_attention_batch **out);
void clfi_attention_batch_destroy(clf_attention_batch *batch); /* NULL is a no-op */

/* Sequence s attends from query rows q_offsets[s]..q_offsets[s+1] to key rows k_offsets[s]..k_offsets[s+1] (both n+1 host values, rising;
 * NULL k_offsets: the same as q_offsets). INVALID_ARGUMENT: falling or negative offsets. UNSUPPORTED: too many tiles of queries.
 * OUT_OF_MEMORY. A forced engine can also fail here (clfi_engine_forced). Synchronous (a small upload). */
clf_status clfi_attention_batch_set(clf_attention_batch *batch, int32_t sequences, const int32_t *q_offsets, const int32_t *k_offsets);

/* The general form: spans may leave gaps (key caches of fixed capacity) and share keys. Query rows of different spans must not overlap. */
clf_status clfi_attention_batch_set_spans(clf_attention_batch *batch, int32_t sequences, const clf_attention_span *spans);

typedef struct clf_attention_args {
    const clf_attention_batch *batch;
    const clf_view *q;        /* [H, Tq, d], f32, f16 or bf16 */
    const clf_view *k;        /* [G, Tk, d], the same type; G divides H: query head h uses key head h / (H / G) */
    const clf_view *v;        /* [G, Tk, dv], the same type */
    const clf_view *out;      /* [Tq, H, dv], f32 or the type of q; must not overlap the inputs */
    const clf_view *key_mask; /* u8 [Tk], 0 = no query may use this key; NULL: none */
    const clf_view *lengths;  /* i32 [sequences]: keys from lengths[s] on are masked; NULL: none */
    /* Masks as bits, i32 [N,H',ceil(Q/32),K] (op/attention_keep.h), for N sequences of Q queries and K keys with H = H' heads. The batch
     * may instead be one sequence that holds the heads of all N: H = N H'. NULL: none */
    const clf_view *keep;
    /* f32 [H, 2R + 1]: bias[h, R + e] is added to the score of a key e positions after its query. Keys farther away than R get the first or
     * last element. NULL: none */
    const clf_view *bias;
    int32_t window;           /* above 0: keys whose position differs from the query's by `window` or more are masked; 0: none */
    float scale;
    bool is_causal;
    clf_empty_rows empty_rows;
} clf_attention_args;

/* out[t,h,:] = sum_j p_j v[g,j,:], p = softmax over the usable keys j of t's sequence of scale * q[h,t,:] . k[g,j,:] + bias. Query i of a
 * span has position i + diagonal, key j has position j. Blocks of keys outside the windows of a tile's queries are skipped.
 *
 * q, k, v: any strides on the first two axes, unit stride on the last (rows [H,T,d] of a projection written head by head are the fastest
 * layout; [T,H,d] permuted works as well). out likewise. Query rows outside every span are left unwritten. Scores and sums are f32;
 * products keep the context's precision (clformer/attention.h has the bound). A masked key has no effect whatever its row of k and v
 * holds. A usable one counts even where its weight underflows to 0 (0 times NaN or infinity is NaN). A usable score of NaN or +inf makes
 * the output row NaN, -inf gives weight 0. A row without a usable key follows empty_rows (uniform: the mean of v over all keys of the
 * sequence); a sequence without keys gives zeros. Enqueued; no temporary memory. INVALID_ARGUMENT: shapes or types that do not fit
 * ("E_SHAPE: ..."), a span that leaves q or k. UNSUPPORTED: no engine of the table "attention" can run it. Source: Dao et al. 2022
 * (FlashAttention), alg. 1; Milakov and Gimelshein 2018 (online softmax). */
clf_status clfi_attention(clf_context *context, const clf_attention_args *args);

#endif
