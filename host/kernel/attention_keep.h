/* SPDX-License-Identifier: MIT */
/* Masks of attention as bits: cl/any/attention_keep.cl, which packs them, and the argument of kernels that read them. */
#ifndef CLFI_KERNEL_ATTENTION_KEEP_H
#define CLFI_KERNEL_ATTENTION_KEEP_H

#include "tensor/view.h"

enum { CLFI_KEEP_QUERIES = 32 }; /* to a word */

/* Views of one shape [...,Q,K], repeated through strides of 0; NULL: none. */
typedef struct clf_keep_masks {
    const clf_view *mask, *padding, *attention; /* u8 */
    const clf_view *lengths;                    /* i32, stride 0 on the key axis */
    bool is_causal;                             /* query i uses keys j <= i */
} clf_keep_masks;

/* keep i32 [...,ceil(Q/32),K] dense, of masks of the shape [...,queries,K] (queries 1: one for all, and its words are all ones or 0). */
clf_status clfi_attention_keep_launch(clf_context *context, const clf_keep_masks *masks, int64_t queries, const clf_view *keep);

/* The three arguments `keep`, `keep_offset`, `keep_strides` of a kernel; keep NULL: `other` stands for the buffer that is not read. */
void clfi_arg_keep(clf_launch *launch, const clf_view *keep, const clf_view *other);

#endif
