/* SPDX-License-Identifier: MIT */
/* Loops over strided operands: out[kept] = sum over summed of the product of the inputs. Copies, permutations, diagonals, sums, products
 * and contractions of any number of operands are all of this form. */
#ifndef CLFI_KERNEL_EINSUM_H
#define CLFI_KERNEL_EINSUM_H

#include "kernel/einsum_operands.h"

/* Runs the loops. in[0..loops->inputs); no input writes zeros. out overlaps no input. Sums and products in f32; long sums are cut into
 * slices that a second launch adds, from the context's arena. Enqueued. UNSUPPORTED: a dtype. */
clf_status clfi_einsum_loops(clf_context *context, const clf_einsum_loops *loops, const clf_einsum_memory *in,
                             const clf_einsum_memory *out);

#endif
