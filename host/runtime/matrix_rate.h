/* SPDX-License-Identifier: MIT */
/* How fast a device's matrix unit multiplies beside its float32 instructions. Both are measured once per device and driver, after the
 * unit's probe, and kept in the cache directory. */
#ifndef CLFI_RUNTIME_MATRIX_RATE_H
#define CLFI_RUNTIME_MATRIX_RATE_H

#include "runtime/kept_text.h"

enum { CLFI_MATRIX_RATE_WAVES = 4 /* of a work-group of cl/gpu/matrix_rate.cl */ };

typedef struct clf_matrix_rates {
    double unit, floats; /* GFLOP/s; 0: not measured */
} clf_matrix_rates;

/* The kernel of the measurement, in which a wave keeps m x n blocks of results. */
clf_kernel_spec clfi_matrix_rate_spec(const clf_context *context, int m, int n);

/* From the cache, else measured, once per context. Zeros: the device has no unit, it failed its probe, or the measurement failed. */
clf_matrix_rates clfi_matrix_rates(const clf_context *context);

/* From the cache alone, where nothing is built or run. */
clf_matrix_rates clfi_matrix_rates_kept(const clf_context *context);

/* The key of the rates, "UNIT FLOATS" as text. */
clf_status clfi_matrix_rates_key(const clf_context *context, clf_kept_key *out);

#endif
