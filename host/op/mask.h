/* SPDX-License-Identifier: MIT */
/* Checks masks and brings them to the shape of the scores that they apply to. */
#ifndef CLFI_OP_MASK_H
#define CLFI_OP_MASK_H

#include "clformer/masks.h"
#include "tensor/view.h"

/* Required form of a mask, an additive mask or lengths. */
typedef struct clf_mask_form {
    const char *name; /* "padding mask" */
    clf_dtype dtype;
    int rank;
    int map[CLF_MAX_RANK]; /* axis a of the scores is axis map[a] of the mask; -1: the mask has none and is repeated along it */
    unsigned repeats;      /* bit i: axis i of the mask may have size 1 and is then repeated; every other size is exact */
} clf_mask_form;

enum { CLFI_MASK_REPEATS = 0xffff }; /* every axis */

/* *out: the mask with the rank and sizes of `scores`, repeated through strides of 0; tensor NULL: a view without buffer. Messages begin
 * with `op` and the form's name. INVALID_ARGUMENT ("E_DTYPE: op name is ...", "E_SHAPE: ..."). */
clf_status clfi_mask_bind(const clf_context *context, const char *op, const clf_mask_form *form, const clf_tensor *tensor,
                          const clf_view *scores, clf_view *out);

/* clfi_mask_bind for valid lengths: int32 [batch] or [batch,queries], every size exact. */
clf_status clfi_lengths_bind(const clf_context *context, const char *op, const clf_tensor *lengths, const clf_view *scores, int batch_axis,
                             int query_axis, clf_view *out);

/* Copies the caller's masks; NULL: the defaults. INVALID_ARGUMENT: clfi_options_read's; "E_VALUE: op: ...", an unknown policy for empty
 * rows. */
clf_status clfi_masks_read(const char *op, const clf_attention_masks *given, clf_attention_masks *out);

/* NULL for a view without buffer. */
static inline const clf_view *clfi_mask_given(const clf_view *mask)
{
    return mask->buffer ? mask : NULL;
}

#endif
