/* SPDX-License-Identifier: MIT */
/* Reference einsum in double: one nest of loops over all labels. */
#ifndef CLF_TEST_REF_EINSUM_H
#define CLF_TEST_REF_EINSUM_H

#include "op/einsum_parse.h"

/* out and magnitude (sums of the products' absolute values; may be NULL): form->output_elements each; operand[k] in C order. Returns the
 * number of summed terms per output element. */
double ref_einsum(const clf_einsum_form *form, const double *const *operand, double *out, double *magnitude);

#endif
