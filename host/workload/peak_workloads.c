/* SPDX-License-Identifier: MIT */
/* The catalogue of the suite "peak". The largest size of memory gives the limits of bandwidth: it is far beyond most devices' caches. Numbers
 * of operations are such that one run takes a fraction of a millisecond on the largest devices and less than a second on small ones. */
#include <math.h>

#include "base/status.h"
#include "workload/peak.h"

enum {
    KIB = 1 << 10,
    MIB = 1 << 20,
    MEMORY_BYTES = 256 * MIB,
    TRAFFIC_BYTES = 256 * MIB, /* of a run, where it passes over its memory more than once */
    ONE_PASS_BYTES = 16 * MIB, /* from here on it passes once, as ops do: so much stays in no unit's own cache */
    TRANSFER_BYTES = 64 * MIB,
    CHAINED = 256
};

/* Some devices emulate fp16 and dots. */
static const double fp32_flops = 0x1p34, fp16_flops = 0x1p33, bf16_flops = 0x1p34, dot_operations = 0x1p33, local_bytes = 0x1p32;

/* Copies of every size are limits, so that a workload stands beside a copy that fits the same cache. */
static const struct {
    size_t bytes;
    bool is_quick;
    const char *limits[3]; /* by clfi_peak_access */
} sizes[] = {
    {32 * KIB, true, {NULL, NULL, "copy_32kib_gbps"}},
    {256 * KIB, false, {NULL, NULL, "copy_256kib_gbps"}},
    {2 * MIB, true, {NULL, NULL, "copy_2mib_gbps"}},
    {16 * MIB, false, {NULL, NULL, "copy_16mib_gbps"}},
    {64 * MIB, false, {NULL, NULL, "copy_64mib_gbps"}},
    {MEMORY_BYTES, true, {"read_gbps", "write_gbps", "copy_gbps"}},
};

const char *clfi_peak_copy_limit(double bytes)
{
    size_t nearest = 0;
    for (size_t i = 1; i < COUNT(sizes); i++)
        if (fabs(log(bytes / 2 / (double)sizes[i].bytes)) < fabs(log(bytes / 2 / (double)sizes[nearest].bytes)))
            nearest = i;
    return sizes[nearest].limits[CLFI_PEAK_COPY];
}

static clf_status add_bandwidth(clfi_workload_list *list, bool quick)
{
    for (int access = CLFI_PEAK_READ; access <= CLFI_PEAK_COPY; access++)
        for (size_t i = 0; i < COUNT(sizes); i++)
            if (!quick || sizes[i].is_quick || sizes[i].limits[access])
                CLF_TRY(clfi_peak_bandwidth(list, (clfi_peak_access)access, sizes[i].bytes,
                                            sizes[i].bytes < ONE_PASS_BYTES ? TRAFFIC_BYTES : sizes[i].bytes, sizes[i].limits[access]));
    return CLF_OK;
}

clf_status clfi_peak_workloads(clfi_workload_list *list, bool quick)
{
    CLF_TRY(add_bandwidth(list, quick));
    CLF_TRY(clfi_peak_arithmetic(list, CLFI_PEAK_FP32, fp32_flops));
    CLF_TRY(clfi_peak_arithmetic(list, CLFI_PEAK_FP16, fp16_flops));
    CLF_TRY(clfi_peak_bf16(list, bf16_flops));
    CLF_TRY(clfi_peak_integer_dot(list, dot_operations));
    CLF_TRY(clfi_peak_local(list, local_bytes));
    CLF_TRY(clfi_peak_launch(list, CHAINED));
    CLF_TRY(clfi_peak_launch(list, 1));
    for (int kind = CLFI_PEAK_UPLOAD_COPY; kind <= CLFI_PEAK_DOWNLOAD_MAP; kind++)
        CLF_TRY(clfi_peak_transfer(list, (clfi_peak_transfer_kind)kind, TRANSFER_BYTES));
    CLF_TRY(clfi_peak_build(list, false));
    return clfi_peak_build(list, true);
}
