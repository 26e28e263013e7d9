/* SPDX-License-Identifier: MIT */
/* The sizes of memory that the suite "peak" measures, also for readers of its results. */
#include <math.h>

#include "base/status.h"
#include "workload/peak.h"

enum { KIB = 1 << 10, MIB = 1 << 20, MEMORY_BYTES = 256 * MIB };

/* Copies of every size are limits, so that every workload can be compared with a copy that fits the same cache. */
const clfi_peak_size clfi_peak_sizes[] = {
    {32 * KIB, true, {NULL, NULL, "copy_32kib_gbps"}},
    {256 * KIB, false, {NULL, NULL, "copy_256kib_gbps"}},
    {2 * MIB, true, {NULL, NULL, "copy_2mib_gbps"}},
    {16 * MIB, false, {NULL, NULL, "copy_16mib_gbps"}},
    {64 * MIB, false, {NULL, NULL, "copy_64mib_gbps"}},
    {MEMORY_BYTES, true, {"read_gbps", "write_gbps", "copy_gbps"}},
    {0, false, {NULL, NULL, NULL}},
};

const char *clfi_peak_copy_at(size_t index, double *bytes)
{
    if (index >= COUNT(clfi_peak_sizes) - 1)
        return NULL;
    *bytes = (double)clfi_peak_sizes[index].bytes;
    return clfi_peak_sizes[index].limits[CLFI_PEAK_COPY];
}

const char *clfi_peak_copy_limit(double bytes)
{
    size_t nearest = 0;
    for (size_t i = 1; clfi_peak_sizes[i].bytes; i++)
        if (fabs(log(bytes / 2 / (double)clfi_peak_sizes[i].bytes)) < fabs(log(bytes / 2 / (double)clfi_peak_sizes[nearest].bytes)))
            nearest = i;
    return clfi_peak_sizes[nearest].limits[CLFI_PEAK_COPY];
}
