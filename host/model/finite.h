/* SPDX-License-Identifier: MIT */
/* Checks that numbers which leave the library are finite. */
#ifndef CLFI_MODEL_FINITE_H
#define CLFI_MODEL_FINITE_H

#include <stddef.h>

#include "base/status.h"

/* The index of the first value that is not finite; count: all are finite. */
size_t clfi_find_not_finite(const float *values, size_t count);

/* FORMAT ("WHAT 12 is nan: expected a finite number"): one of `values`, logits or numbers made of them, is not finite. Embeddings and
 * scores of texts come from a single pass, which is computed again on the portable engines (model/text_rows.h). A decoder's logits are not
 * computed again: the keys and values in its cache come from the same engines. */
clf_status clfi_check_finite(const char *what, const float *values, size_t count);

#endif
