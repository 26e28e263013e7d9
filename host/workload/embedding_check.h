/* SPDX-License-Identifier: MIT */
/* Compares an embedding with the reference's for workloads: its elements, its norm and its cosine. */
#ifndef CLFI_WORKLOAD_EMBEDDING_CHECK_H
#define CLFI_WORKLOAD_EMBEDDING_CHECK_H

#include "clformer/model.h"
#include "workload/workload.h"

/* Adds one comparison to *out: a float32 row of info->width values against the wanted row. The wanted row is divided by its norm. The
 * row is divided by its own norm if the model normalises, else by the wanted one. Each element must lie within `bound` (in units of the
 * wanted row) divided by the wanted norm. If the model normalises, the norm of the row must be 1 within rounding. out->cosine keeps the
 * lowest cosine so far, which decides nothing. NaN never passes. */
void clfi_embedding_check(const clf_model_info *info, const float *row, const double *want, double bound, clfi_verdict *out);

#endif
