/* SPDX-License-Identifier: MIT */
/* Lists the suite "peak". The largest size of memory gives the limits of bandwidth, because it is far larger than most devices' caches.
 * Numbers of operations are chosen so that one run takes a fraction of a millisecond on the largest devices and less than a second on
 * small ones. */
#include "base/status.h"
#include "workload/peak.h"

enum {
    MIB = 1 << 20,
    TRAFFIC_BYTES = 256 * MIB, /* of a run that passes over its memory more than once */
    ONE_PASS_BYTES = 16 * MIB, /* sizes from here on are passed once, as ops do: they fit no cache of a single unit */
    TRANSFER_BYTES = 64 * MIB,
    CHAINED = 256
};

/* fp16 and dots have fewer operations, because some devices emulate them. Matrix units are up to 16 times as fast as float32. */
static const double fp32_flops = 0x1p34, fp16_flops = 0x1p33, bf16_flops = 0x1p34, matrix_flops = 0x1p38, dot_operations = 0x1p33,
                    local_bytes = 0x1p32;

static clf_status add_bandwidth(clfi_workload_list *list, bool quick)
{
    for (int access = CLFI_PEAK_READ; access <= CLFI_PEAK_COPY; access++)
        for (const clfi_peak_size *size = clfi_peak_sizes; size->bytes; size++)
            if (!quick || size->is_quick || size->limits[access])
                CLF_TRY(clfi_peak_bandwidth(list, (clfi_peak_access)access, size->bytes,
                                            size->bytes < ONE_PASS_BYTES ? TRAFFIC_BYTES : size->bytes, size->limits[access]));
    return CLF_OK;
}

clf_status clfi_peak_workloads(clfi_workload_list *list, bool quick)
{
    CLF_TRY(add_bandwidth(list, quick));
    CLF_TRY(clfi_peak_arithmetic(list, CLFI_PEAK_FP32, fp32_flops));
    CLF_TRY(clfi_peak_arithmetic(list, CLFI_PEAK_FP16, fp16_flops));
    CLF_TRY(clfi_peak_matrix(list, false, matrix_flops));
    CLF_TRY(clfi_peak_matrix(list, true, bf16_flops));
    CLF_TRY(clfi_peak_integer_dot(list, dot_operations));
    CLF_TRY(clfi_peak_local(list, local_bytes));
    CLF_TRY(clfi_peak_launch(list, CHAINED));
    CLF_TRY(clfi_peak_launch(list, 1));
    for (int kind = CLFI_PEAK_UPLOAD_COPY; kind <= CLFI_PEAK_DOWNLOAD_MAP; kind++)
        CLF_TRY(clfi_peak_transfer(list, (clfi_peak_transfer_kind)kind, TRANSFER_BYTES));
    CLF_TRY(clfi_peak_build(list, false));
    return clfi_peak_build(list, true);
}
