/* SPDX-License-Identifier: MIT */
/* Workloads of the suite "peak", one function per kind: what a device can do at most, by kernels that do nothing else. Each function adds
 * one workload to the list. The catalogue chooses the sizes; tests use smaller ones. INVALID_ARGUMENT: a size that the function does not
 * allow.
 *
 * Results are checked exactly unless a comment says otherwise: the error of a verdict is then the number of wrong words, and the bound is
 * 0. Data is random, so no compiler can compute a kernel's work in advance.
 *
 * If the figure of a workload is a limit of the device, work["measures"] is the key of that limit. If the workload has several engines
 * (shapes of the same arithmetic), or several workloads have the key, the best of them is the limit. */
#ifndef CLFI_WORKLOAD_PEAK_H
#define CLFI_WORKLOAD_PEAK_H

#include "workload/workload.h"

typedef enum clfi_peak_access { CLFI_PEAK_READ, CLFI_PEAK_WRITE, CLFI_PEAK_COPY } clfi_peak_access;

typedef struct clfi_peak_size {
    size_t bytes; /* 0: end of the list */
    bool is_quick;
    const char *limits[3]; /* keys of the limits that it measures, by clfi_peak_access; NULL: none */
} clfi_peak_size;

extern const clfi_peak_size clfi_peak_sizes[];

/* "bandwidth/read/32KiB": one kernel passes over `bytes` of memory (a copy: from one such buffer to another), divided among the compute
 * units. It repeats this until traffic_bytes are read or written (a copy: both). bytes: a multiple of 4096 below 2^31 that divides
 * traffic_bytes. measures: key of a limit, or NULL. The bandwidth of a copy counts bytes read and written. */
clf_status clfi_peak_bandwidth(clfi_workload_list *list, clfi_peak_access access, size_t bytes, size_t traffic_bytes, const char *measures);

/* `peer` of workloads that pass once over memory: a copy that moves as many bytes. One launch repeats it as often as the workload is
 * enqueued. */
clf_status clfi_peak_copy_peer(const clfi_workload *workload, clfi_workload_list *list);

/* The sizes of copies that are measured, smallest first: key and bytes (of one of the two buffers) of the index-th. NULL: there are no
 * more. */
const char *clfi_peak_copy_at(size_t index, double *bytes);

/* Key of the limit of a copy that reads and writes `bytes` in all: that of the nearest size that is measured. */
const char *clfi_peak_copy_limit(double bytes);

typedef enum clfi_peak_real { CLFI_PEAK_FP32, CLFI_PEAK_FP16 } clfi_peak_real;

/* "arithmetic/fp32": multiply-adds from registers, two operations each; flops: a multiple of 2^22. Engines are widths of the vectors and
 * numbers of independent chains. fp32 is checked against double within a bound (peak_arithmetic.c), fp16 exactly. fp16 needs
 * cl_khr_fp16. Limits "fp32_gflops", "fp16_gflops". */
clf_status clfi_peak_arithmetic(clfi_workload_list *list, clfi_peak_real real, double flops);


/* "arithmetic/matrix" for the matrix units of GPUs, "arithmetic/bf16" for those of CPUs (runtime/matrix_unit.h): products of 16-bit
 * numbers, summed in float32; flops: a power of two, at least 2^20. Engines are numbers of blocks in a wave's registers. Unsupported
 * without such a unit that passed its probe. An emulated unit is unsupported above 2^24 operations. Limit CLFI_MATRIX_LIMIT. */
#define CLFI_MATRIX_LIMIT "matrix_gflops"
clf_status clfi_peak_matrix(clfi_workload_list *list, bool is_cpu, double flops);

/* "arithmetic/int8-dot": dot products of four bytes, eight operations each, on devices with cl_khr_integer_dot_product. Engines: the
 * extension's function, and plain arithmetic. operations: a multiple of 2^22. Limit "int8_gops". */
clf_status clfi_peak_integer_dot(clfi_workload_list *list, double operations);

/* "local/read": reads of local memory; bytes: a multiple of 2^22. Limit "local_gbps". */
clf_status clfi_peak_local(clfi_workload_list *list, double bytes);

/* "launch/chained-256": `launches` minimal kernels, each after the one before, then one wait. 1: "launch/round-trip", limit
 * "round_trip_us". */
clf_status clfi_peak_launch(clfi_workload_list *list, int launches);

typedef enum clfi_peak_transfer_kind {
    CLFI_PEAK_UPLOAD_COPY,   /* clEnqueueWriteBuffer */
    CLFI_PEAK_UPLOAD_MAP,    /* map for writing, copy by the host, unmap */
    CLFI_PEAK_DOWNLOAD_COPY, /* clEnqueueReadBuffer */
    CLFI_PEAK_DOWNLOAD_MAP   /* map for reading, copy by the host, unmap */
} clfi_peak_transfer_kind;

/* "transfer/upload-copy/64MiB": ordinary host memory to device memory, or back; limits "upload_gbps" and "download_gbps". */
clf_status clfi_peak_transfer(clfi_workload_list *list, clfi_peak_transfer_kind kind, size_t bytes);

/* "build/cold" and "build/cached": from the source of a kernel to the end of its first launch. Cold: never compiled before by this driver,
 * because a number in it is new each time. Cached: from the library's cache of programs on disk. */
clf_status clfi_peak_build(clfi_workload_list *list, bool is_cached);

#endif
