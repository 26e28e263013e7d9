/* SPDX-License-Identifier: MIT */
/* Packs attention masks into bits (cl/any/attention_keep.cl) and passes them to the kernels that read them. */
#ifndef CLFI_KERNEL_ATTENTION_KEEP_H
#define CLFI_KERNEL_ATTENTION_KEEP_H

#include "tensor/view.h"

enum { CLFI_KEEP_QUERIES = 32 }; /* per word */

/* Views of one shape [...,Q,K], repeated through strides of 0; NULL: none. */
typedef struct clf_keep_masks {
    const clf_view *mask, *padding, *attention; /* u8 */
    const clf_view *lengths;                    /* i32, stride 0 on the key axis */
    bool is_causal;                             /* query i uses keys j <= i */
} clf_keep_masks;

/* Writes keep, i32 [...,ceil(Q/32),K] dense: bit q % 32 of word q / 32 is 1 if query q uses the key. The masks are [...,queries,K]. With
 * queries 1, one row of the masks holds for all queries, and a word is 0 or all ones. Enqueued. */
clf_status clfi_attention_keep_launch(clf_context *context, const clf_keep_masks *masks, int64_t queries, const clf_view *keep);

/* Sets a kernel's arguments `keep`, `keep_offset` and `keep_strides`. keep NULL: the kernel does not read them and gets other's buffer. */
void clfi_arg_keep(clf_launch *launch, const clf_view *keep, const clf_view *other);

#endif
