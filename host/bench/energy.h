/* SPDX-License-Identifier: MIT */
/* Energy that a device takes, where a counter can be read: RAPL or hwmon for processors, NVML or hwmon for graphics cards. Counters of
 * energy only; readings of power are no substitute, because they miss what happens between two of them.
 *
 *     clfi_energy *energy;
 *     CLF_TRY(clfi_energy_open(&clfi_energy_system, &target, &energy));
 *     CLF_TRY(clfi_energy_read(energy, &before));  ...work...  CLF_TRY(clfi_energy_read(energy, &after));
 *
 * The counters cover the whole package or card, whatever else runs on it. */
#ifndef CLFI_BENCH_ENERGY_H
#define CLFI_BENCH_ENERGY_H

#include <stdbool.h>

#include "clformer/context.h"

enum { CLFI_PCI_ADDRESS_BYTES = 16 };

/* Places that are searched for energy counters. */
typedef struct clfi_energy_source {
    const char *sysfs; /* "/sys" */
    const char *nvml;  /* "libnvidia-ml.so.1", for dlopen */
} clfi_energy_source;

extern const clfi_energy_source clfi_energy_system;

/* The device or host whose energy is measured. */
typedef struct clfi_energy_target {
    bool is_cpu;
    char pci_address[CLFI_PCI_ADDRESS_BYTES]; /* "0000:3b:00.0" as in sysfs; "": not known */
} clfi_energy_target;

typedef struct clfi_energy clfi_energy;

/* The target behind a context: its type, and its PCI address through cl_khr_pci_bus_info or the vendors' own queries. */
void clfi_energy_target_of(const clf_context *context, clfi_energy_target *out);

/* Opens a counter; *out: the caller closes it. A missing counter is no failure: then the method is "not measured", and the reason names
 * what was looked for. OUT_OF_MEMORY. */
clf_status clfi_energy_open(const clfi_energy_source *source, const clfi_energy_target *target, clfi_energy **out);
void clfi_energy_close(clfi_energy *energy); /* NULL is a no-op */

/* "RAPL package", "hwmon", "NVML" or "not measured"; and the reason why it is not measured, else "". Borrowed until the counter is
 * closed. */
const char *clfi_energy_method(const clfi_energy *energy);
const char *clfi_energy_reason(const clfi_energy *energy);

/* *joules: since the counter was opened. RAPL's counters wrap to zero after some minutes under load; between two calls they may wrap
 * once. UNSUPPORTED: not measured. IO, NOT_FOUND, FORMAT: the counter or its library no longer gives a usable number. */
clf_status clfi_energy_read(clfi_energy *energy, double *joules);

#endif
