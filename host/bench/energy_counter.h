/* SPDX-License-Identifier: MIT */
/* The interface of one kind of energy counter, which energy.c chooses from. */
#ifndef CLFI_BENCH_ENERGY_COUNTER_H
#define CLFI_BENCH_ENERGY_COUNTER_H

#include "bench/energy.h"

typedef struct clfi_energy_counter {
    const char *method;
    clf_status (*read)(void *state, double *joules); /* clfi_energy_read */
    void (*close)(void *state);
    void *state;
} clfi_energy_counter;

/* Open the counter of the target; the caller calls out->close. NOT_FOUND: the target has no such counter; clf_last_error() is the
 * reason. OUT_OF_MEMORY. */
clf_status clfi_energy_rapl_open(const char *sysfs, clfi_energy_counter *out);
clf_status clfi_energy_hwmon_open(const char *sysfs, const clfi_energy_target *target, clfi_energy_counter *out);
clf_status clfi_energy_nvml_open(const char *library, const clfi_energy_target *target, clfi_energy_counter *out);

#endif
