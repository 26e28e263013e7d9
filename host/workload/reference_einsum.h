/* SPDX-License-Identifier: MIT */
/* Reference einsum in double: one nest of loops over all labels. */
#ifndef CLFI_WORKLOAD_REFERENCE_EINSUM_H
#define CLFI_WORKLOAD_REFERENCE_EINSUM_H

#include "op/einsum_parse.h"

/* One output element, by its position in C order; *magnitude: the sum of the absolute values of its products. operand[k]: elements in C
 * order. */
double clfi_ref_einsum_element(const clf_einsum_form *form, const double *const *operand, size_t element, double *magnitude);

/* The number of terms that an output element sums. */
double clfi_ref_einsum_terms(const clf_einsum_form *form);

/* Bound of the error of a float32 result in units of that magnitude: (8 + 2n + 2 sqrt k) u for n operands and k terms. Sums in any order
 * stay within it (Higham & Mary 2019). 0 for a permutation, which is exact. */
double clfi_ref_einsum_error(int operands, double terms);

/* The whole result. out, magnitude (may be NULL): form->output_elements values each. Returns the number of summed terms. */
double clfi_ref_einsum(const clf_einsum_form *form, const double *const *operand, double *out, double *magnitude);

#endif
