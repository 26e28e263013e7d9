/* SPDX-License-Identifier: MIT */
/* Checks of operands that the row normalisations share. */
#ifndef CLFI_OP_ROW_NORM_H
#define CLFI_OP_ROW_NORM_H

#include "kernel/row_norm.h"
#include "op/engines.h"

/* Checks shapes and dtypes, then runs an engine of `op`. No rows: OK. */
clf_status clfi_row_norm_run(clf_context *context, clf_op op, const clf_row_norm *args);

#endif
