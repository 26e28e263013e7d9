/* SPDX-License-Identifier: MIT */
/* Attention of one query row in double, with the error bound of a computation at a precision. */
#ifndef CLFI_WORKLOAD_REFERENCE_ATTENTION_H
#define CLFI_WORKLOAD_REFERENCE_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>

#include "clformer/context.h"
#include "workload/reference_softmax.h"

/* One query q [d], its keys k [keys,d] and values v [keys,dv], dense. keep [keys]: NULL uses every key; bias [keys]: NULL adds none. */
typedef struct clfi_ref_attention {
    const double *q, *k, *v;
    size_t keys, d, dv;
    double scale;
    const bool *keep;
    const double *bias;
    clf_empty_rows empty_rows;
    clf_precision precision; /* of both products (clformer/attention.h) */
} clfi_ref_attention;

/* out[0..dv) = softmax(scale q.k + bias) v over the kept keys; bound[0..dv): the error allowed at the precision, without the rounding to
 * the type of the output. OUT_OF_MEMORY. */
clf_status clfi_ref_attention_row(const clfi_ref_attention *row, double *out, double *bound);

#endif
