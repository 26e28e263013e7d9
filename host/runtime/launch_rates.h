/* SPDX-License-Identifier: MIT */
/* Rates of a device: how fast it computes and copies. They are measured once per device and driver and kept in the cache directory.
 * runtime/launch_budget.h estimates launches by them. */
#ifndef CLFI_RUNTIME_LAUNCH_RATES_H
#define CLFI_RUNTIME_LAUNCH_RATES_H

#include "runtime/context.h"

/* Sets the rates of context->budget from the cache, or measures them in some milliseconds, after all that the queue holds. Where that
 * fails, or gives numbers that no such device has, the guess stays, and a line of the log says so. */
void clfi_launch_rates(clf_context *context);

/* The rate of float32 multiply-adds, two operations each, that the same measurement found. */
clf_status clfi_float_gflops(clf_context *context, double *out);

#endif
