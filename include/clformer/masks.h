/* SPDX-License-Identifier: MIT */
/* Which keys queries may use: one struct for the softmax, attention and whole transformers. */
#ifndef CLFORMER_MASKS_H
#define CLFORMER_MASKS_H

#include "clformer/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Weights of a row that has no usable key: every key masked, or every kept score -inf. */
typedef enum clf_empty_rows {
    CLF_EMPTY_ROWS_ZERO,   /* all weights 0 */
    CLF_EMPTY_ROWS_NAN,    /* all weights NaN, as torch.softmax of -inf */
    CLF_EMPTY_ROWS_UNIFORM /* 1/K over all K keys, as filling with a large negative number does */
} clf_empty_rows;

/* NULL pointers: no such mask. All given combine by AND; in each, 0 means "must not attend", anything else "keep". */
typedef struct clf_attention_masks {
    size_t size;                      /* sizeof(clf_attention_masks) */
    const clf_tensor *mask;           /* u8; its shape is the function's: that of the scores, or [B|1,Q|1,K|1], or with heads */
    const clf_tensor *padding_mask;   /* u8 [B,K], whatever the layout: which keys of a batch row exist */
    const clf_tensor *attention_mask; /* u8 [Q,K] (look-ahead or memory mask) */
    int is_causal;                    /* nonzero: query i uses keys j <= i */
    clf_empty_rows empty_rows;        /* queries without a usable key */
} clf_attention_masks;

#define CLF_ATTENTION_MASKS_INIT            \
    {                                       \
        .size = sizeof(clf_attention_masks) \
    }
CLF_API CLF_NODISCARD clf_status clf_attention_masks_default(clf_attention_masks *out, size_t size); /* clformer.h: options */

#ifdef __cplusplus
}
#endif
#endif
