/* SPDX-License-Identifier: MIT */
/* Checks that numbers which leave the library are finite. */
#ifndef CLFI_MODEL_FINITE_H
#define CLFI_MODEL_FINITE_H

#include <stddef.h>

#include "base/status.h"

/* The first of `values` that is not finite; count: all are. */
size_t clfi_find_not_finite(const float *values, size_t count);

/* FORMAT ("WHAT 12 is nan: expected a finite number"): one of `values`, logits or what is made of them, is not. Embeddings and scores of
 * texts, which one pass gives, are computed again on the portable engines instead (model/text_rows.h). A decoder's are not: what was
 * computed of the text before lies in its cache, from the same engines. */
clf_status clfi_check_finite(const char *what, const float *values, size_t count);

#endif
