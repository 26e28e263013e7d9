/* SPDX-License-Identifier: MIT */
/* Combines all masks of an attention into one bit per query and key. */
#ifndef CLFI_OP_ATTENTION_KEEP_H
#define CLFI_OP_ATTENTION_KEEP_H

#include "kernel/attention_keep.h"

/* *out: i32 [...,ceil(Q/32),K] for scores of the shape [...,Q,K] (dim[0..rank)), a temporary of the arena; bit i of word (t,j) is set where
 * query 32t + i may use key j. An axis that no mask depends on is stored once and repeated through a stride of 0. Enqueued. */
clf_status clfi_attention_keep(clf_context *context, const clf_keep_masks *masks, int rank, const int64_t *dim, clf_view *out);

#endif
