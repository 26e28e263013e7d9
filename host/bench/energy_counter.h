/* SPDX-License-Identifier: MIT */
/* One kind of energy counter behind energy.h. */
#ifndef CLFI_BENCH_ENERGY_COUNTER_H
#define CLFI_BENCH_ENERGY_COUNTER_H

#include "bench/energy.h"

typedef struct clfi_energy_counter {
    const char *method;
    clf_status (*read)(void *state, double *joules); /* since it was opened */
    void (*close)(void *state);
    void *state;
} clfi_energy_counter;

/* Opens the counter of the target. Where there is none: NOT_FOUND, the reason in clf_last_error(). */
clf_status clfi_energy_rapl_open(const char *sysfs, clfi_energy_counter *out);
clf_status clfi_energy_hwmon_open(const char *sysfs, const clfi_energy_target *target, clfi_energy_counter *out);
clf_status clfi_energy_nvml_open(const char *library, const clfi_energy_target *target, clfi_energy_counter *out);

#endif
