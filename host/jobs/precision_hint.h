/* SPDX-License-Identifier: MIT */
/* A hint at `--precision high` for devices on which it would be clearly faster than `highest`. */
#ifndef CLFI_JOBS_PRECISION_HINT_H
#define CLFI_JOBS_PRECISION_HINT_H

#include "runtime/context.h"

/* Prints one line on standard error, once per device and driver: the cache remembers it. Nothing is measured here: the line needs the rates
 * of the matrix unit that `devices --all`, `tune` or a run at `high` has left in the cache. No line where the context has another precision
 * than the highest, or forces engines of products. */
void cli_precision_hint(const clf_context *context);

#endif
