/* SPDX-License-Identifier: MIT */
/* Permutations that exchange the contiguous axis, in tiles. */
#ifndef CLFI_KERNEL_PERMUTE_H
#define CLFI_KERNEL_PERMUTE_H

#include "kernel/einsum_operands.h"

/* True for a copy (one input, no sum) whose innermost axes in input and output differ and are both contiguous and long enough for tiles, on
 * a device whose work-groups hold a tile's work-items. */
bool clfi_permute_suits(const clf_context *context, const clf_einsum_loops *loops);

/* Runs such loops. Enqueued. */
clf_status clfi_permute(clf_context *context, const clf_einsum_loops *loops, const clf_einsum_memory *in, const clf_einsum_memory *out);

#endif
