/* SPDX-License-Identifier: MIT */
/* Whether an embedding is the reference's, also in its length. */
#ifndef CLFI_WORKLOAD_EMBEDDING_CHECK_H
#define CLFI_WORKLOAD_EMBEDDING_CHECK_H

#include "clformer/model.h"
#include "workload/workload.h"

/* Checks a float32 row of info->width values against the wanted one, into *out. The elements, in units of a wanted row of norm 1, are each
 * within `bound` of the wanted row's own units. Also checked: the cosine, and the norm of a model that normalises, which is 1. NaN never
 * passes. */
void clfi_embedding_check(const clf_model_info *info, const float *row, const double *want, double bound, clfi_verdict *out);

#endif
