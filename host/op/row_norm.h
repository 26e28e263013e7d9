/* SPDX-License-Identifier: MIT */
/* Checks and runs row normalisations: layer norm, RMS norm, L2 normalisation. */
#ifndef CLFI_OP_ROW_NORM_H
#define CLFI_OP_ROW_NORM_H

#include "kernel/row_norm.h"
#include "op/engines.h"

/* Checks shapes and dtypes, then runs an engine of `op`. No rows: OK. Statuses: clfi_layer_norm. */
clf_status clfi_row_norm_run(clf_context *context, clf_op op, const clf_row_norm *args);

#endif
