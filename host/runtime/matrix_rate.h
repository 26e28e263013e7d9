/* SPDX-License-Identifier: MIT */
/* Measures how fast a device's matrix unit and its float32 instructions multiply, for the choice of engines. Both are measured once per
 * device and driver, after the unit's probe, and kept in the cache directory. */
#ifndef CLFI_RUNTIME_MATRIX_RATE_H
#define CLFI_RUNTIME_MATRIX_RATE_H

#include "runtime/kept_text.h"

enum { CLFI_MATRIX_RATE_WAVES = 4 /* waves of a work-group of cl/gpu/matrix_rate.cl */ };

typedef struct clf_matrix_rates {
    double unit, floats; /* GFLOP/s; 0: not measured */
    const char *failure; /* why a measurement failed; else NULL. Lives as long as the context. */
} clf_matrix_rates;

/* The kernel of the measurement, in which a wave keeps m x n blocks of results. */
clf_kernel_spec clfi_matrix_rate_spec(const clf_context *context, int m, int n);

/* The rates from the cache, else measured, once per context. Zeros: the device has no unit, it failed its probe, the measurement failed, or
 * there is no memory. */
clf_matrix_rates clfi_matrix_rates(const clf_context *context);

/* The rates from the cache alone: nothing is built or run. Zeros: the cache has none. */
clf_matrix_rates clfi_matrix_rates_kept(const clf_context *context);

/* The key under which the rates are kept as text, "UNIT FLOATS". The device must have a unit. Errors as clfi_kept_find. */
clf_status clfi_matrix_rates_key(const clf_context *context, clf_kept_key *out);

#endif
