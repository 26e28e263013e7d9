/* SPDX-License-Identifier: MIT */
/* Measures how fast a device computes and copies, once per device and driver, and keeps the rates in the cache directory.
 * runtime/launch_budget.h estimates launches by them. */
#ifndef CLFI_RUNTIME_LAUNCH_RATES_H
#define CLFI_RUNTIME_LAUNCH_RATES_H

#include "runtime/context.h"

/* Sets the rates of context->budget from the cache, or measures them in some milliseconds, after all work in the queue. If that fails, or
 * gives rates far above what such devices reach, the guessed rates stay, and a log line says so. */
void clfi_launch_rates(clf_context *context);

/* *out: the rate of float32 multiply-adds by the same measurement, in GFLOP/s (two operations each). Fails if the measurement fails. */
clf_status clfi_float_gflops(clf_context *context, double *out);

#endif
