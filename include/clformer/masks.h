/* SPDX-License-Identifier: MIT */
/* Masks: which keys each query may use. The softmax, attention and whole transformers share this struct. */
#ifndef CLFORMER_MASKS_H
#define CLFORMER_MASKS_H

#include "clformer/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Weights of a row without a usable key: every key is masked, or every kept score is -inf. */
typedef enum clf_empty_rows {
    CLF_EMPTY_ROWS_ZERO,   /* all weights 0 */
    CLF_EMPTY_ROWS_NAN,    /* all weights NaN, as torch.softmax of -inf gives */
    CLF_EMPTY_ROWS_UNIFORM /* all weights 1/K over all K keys, as masking with a large negative score gives */
} clf_empty_rows;

/* A NULL pointer means no such mask. Given masks combine by AND. In each, 0 means "must not attend", anything else "keep". */
typedef struct clf_attention_masks {
    size_t size;                      /* sizeof(clf_attention_masks) */
    const clf_tensor *mask;           /* u8; shape as the function says: that of the scores, or [B|1,Q|1,K|1], or one with heads */
    const clf_tensor *padding_mask;   /* u8 [B,K] in every layout: 0 marks the padding of a batch row */
    const clf_tensor *attention_mask; /* u8 [Q,K] (look-ahead or memory mask) */
    int is_causal;                    /* nonzero: query i uses keys j <= i */
    clf_empty_rows empty_rows;        /* results of queries without a usable key */
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
