/* SPDX-License-Identifier: MIT */
/* Loops over strided operands: out[kept] = sum over summed of the product of the inputs. Copies, permutations, diagonals, sums, products
 * and contractions of any number of operands are all of this form. */
#ifndef CLFI_KERNEL_EINSUM_H
#define CLFI_KERNEL_EINSUM_H

#include "kernel/einsum_operands.h"

/* Runs the loops over in[0..loops->inputs); without inputs it writes zeros. out overlaps no input. Sums and products are f32. Long sums are
 * cut into slices, kept in the context's arena, which a second launch adds. Enqueued. UNSUPPORTED: an operand is not f32, f16 or bf16. */
clf_status clfi_einsum_loops(clf_context *context, const clf_einsum_loops *loops, const clf_einsum_memory *in,
                             const clf_einsum_memory *out);

#endif
