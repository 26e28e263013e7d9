/* SPDX-License-Identifier: MIT */
/* Einsum: sums of products of tensors, written as an equation over index labels. */
#ifndef CLFORMER_EINSUM_H
#define CLFORMER_EINSUM_H

#include <stddef.h>

#include "clformer/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Equations, as NumPy and PyTorch write them:
 *
 *     terms [ "->" output ]      terms: one per operand, separated by commas; spaces between tokens are ignored
 *
 * A term is a sequence of labels A-Z a-z (case matters), one per axis, and at most one "..." for any further axes. The result is
 *
 *     out[output labels] = sum over all other labels of the product of all operands
 *
 * - A label has one size everywhere; an axis of size 1 is repeated. Inside one operand a repeated label takes the diagonal, and its
 *   sizes must be equal. "..." axes are aligned at their right end and repeat size 1 likewise.
 * - Without "->" the output is "..." and then the labels that occur once in all terms together, in ASCII order. With it, every output
 *   label must be in an operand, and none may repeat; "..." axes that the output leaves out are summed.
 * - A sum over a label of size 0 is 0; an output with an axis of size 0 is empty.
 *
 * Every refusal's reason (clf_last_error) begins with one of these codes. NULL and foreign operands are found first. The limits on operands
 * and axes are checked where these are counted. The other checks run in this order:
 *   E_CHAR, E_ELLIPSIS_SYNTAX, E_ARROW   from left to right, the equation is not of the form above
 *   E_OPERAND_COUNT                      terms and operands differ in number, or there is no operand
 *   E_RANK                               a term does not fit its operand's rank
 *   E_OUTPUT_UNKNOWN, E_OUTPUT_REPEAT    from left to right, the output label is in no operand, or is there twice
 *   E_DIAGONAL, E_SIZE, E_ELLIPSIS_BROADCAST    operand by operand, sizes do not agree
 *   E_LIMIT, E_OVERFLOW                  more than 16 operands or axes, an invalid memory limit, an element count that does not fit
 *   E_ARGUMENT                           a NULL pointer, a foreign tensor, an element type, an output of another shape
 *
 * Numerics: operands and output are f32, f16 or bf16 in any mix; intermediates, products and sums are f32, and the output is rounded once.
 * Products and sums are IEEE: 0 * NaN is NaN. With u = 2^-24, n operands, k summed terms and S the same einsum of absolute values,
 * |error| <= (k + 2n) u S before that rounding. Results whose terms and partial sums are integers below 2^24 are exact. Both hold at the
 * highest precision; at others, each of the n - 1 products adds what clf_precision states.
 *
 * Operands are read where they are, whatever their strides (0 included); they may share memory, also with the output. */

enum { CLF_EINSUM_MAX_OPERANDS = 16 };

/* Limits on intermediate tensors. */
enum {
    CLF_EINSUM_NO_LIMIT = -1,
    CLF_EINSUM_MAX_INPUT = -2 /* the elements of the largest operand or of the output */
};

/* Computes `equation` into `out`, which the caller has created with the right shape (clf_einsum_output_shape). Enqueued.
 * INVALID_ARGUMENT or UNSUPPORTED with a code as above: nothing was launched, out is untouched. */
CLF_API CLF_NODISCARD clf_status clf_einsum(clf_context *context, const char *equation, const clf_tensor *const *operands, int count,
                                            clf_tensor *out);

/* Shape of the result for operands of these ranks and sizes: *out_rank, and out_dim[0..*out_rank) (at most CLF_MAX_RANK). No device. */
CLF_API CLF_NODISCARD clf_status clf_einsum_output_shape(const char *equation, int count, const int *rank, const int64_t *const *dim,
                                                         int *out_rank, int64_t *out_dim);

/* A parsed equation with its contraction order for given shapes; holds no device memory and belongs to no context. Immutable, so that
 * threads may share it. The order has the least cost over all pairwise trees up to 12 operands and is greedy above. Cost of a step, as
 * opt_einsum counts it: the product of the sizes of its labels, times 2 where something is summed. */
typedef struct clf_einsum_plan clf_einsum_plan;

/* memory_limit: largest number of elements of any intermediate or copy (the output is exempt), or one of the names above. If every pair of
 * terms would exceed it, one nest of loops multiplies all terms that are left without an intermediate. E_LIMIT: 0, or below
 * CLF_EINSUM_MAX_INPUT. *out: the caller destroys it. */
CLF_API CLF_NODISCARD clf_status clf_einsum_plan_create(const char *equation, int count, const int *rank, const int64_t *const *dim,
                                                        int64_t memory_limit, clf_einsum_plan **out);
CLF_API void clf_einsum_plan_destroy(clf_einsum_plan *plan);

/* The result's shape. Borrowed from the plan. */
CLF_API int clf_einsum_plan_rank(const clf_einsum_plan *plan);
CLF_API const int64_t *clf_einsum_plan_dim(const clf_einsum_plan *plan);

/* Total cost of the plan's steps, and elements of its largest intermediate (0: none). */
CLF_API double clf_einsum_plan_cost(const clf_einsum_plan *plan);
CLF_API double clf_einsum_plan_largest(const clf_einsum_plan *plan);

/* As clf_einsum, for operands of exactly the plan's shapes (E_ARGUMENT otherwise); strides and element types may differ between calls. */
CLF_API CLF_NODISCARD clf_status clf_einsum_plan_run(clf_context *context, const clf_einsum_plan *plan, const clf_tensor *const *operands,
                                                     int count, clf_tensor *out);

/* The plan as text: operands, path, cost, and for each step its terms, its cost, the size of its result and what runs it. Operands count as
 * dense f32. context: the text names the matrix engines of its device; NULL: only "gemm". text: capacity bytes, always terminated when
 * capacity > 0; *length: the whole text's length, which may be more. text may be NULL when capacity is 0. */
CLF_API CLF_NODISCARD clf_status clf_einsum_plan_print(clf_context *context, const clf_einsum_plan *plan, char *text, size_t capacity,
                                                       size_t *length);

#ifdef __cplusplus
}
#endif
#endif
