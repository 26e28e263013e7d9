/* SPDX-License-Identifier: MIT */
/* Workloads of the suite "peak", one function per kind: what a device can do at most, by kernels that do nothing else. Each adds one
 * workload to the list; the catalogue gives the sizes, tests give smaller ones. All results are checked exactly unless said otherwise: the
 * error of a verdict is then the number of wrong words, the bound 0. Data is random; no kernel's work can be foreseen by its compiler.
 *
 * A workload whose figure is a limit of the device has that limit's key in work["measures"]. If it has several engines (shapes of the same
 * arithmetic), or several workloads have the key, the best of them is the limit. */
#ifndef CLFI_WORKLOAD_PEAK_H
#define CLFI_WORKLOAD_PEAK_H

#include "workload/workload.h"

typedef enum clfi_peak_access { CLFI_PEAK_READ, CLFI_PEAK_WRITE, CLFI_PEAK_COPY } clfi_peak_access;

typedef struct clfi_peak_size {
    size_t bytes; /* 0: after the last */
    bool is_quick;
    const char *limits[3]; /* by clfi_peak_access */
} clfi_peak_size;

extern const clfi_peak_size clfi_peak_sizes[];

/* "bandwidth/read/32KiB": one kernel passes over `bytes` of memory (a copy: from one such buffer to another), divided among the compute
 * units, as often as makes traffic_bytes each way. bytes: a multiple of 4096 that divides traffic_bytes. measures: key of a limit, or NULL.
 * The bandwidth of a copy counts bytes read and written. */
clf_status clfi_peak_bandwidth(clfi_workload_list *list, clfi_peak_access access, size_t bytes, size_t traffic_bytes, const char *measures);

/* `peer` of workloads that pass once over memory: a copy of as many bytes, as often within one launch as the workload is enqueued. */
clf_status clfi_peak_copy_peer(const clfi_workload *workload, clfi_workload_list *list);

/* The sizes of copies that are measured, smallest first: key and bytes (of one of the two buffers) of the index-th; NULL: there are no
 * more. */
const char *clfi_peak_copy_at(size_t index, double *bytes);

/* Key of the limit of a copy of which `bytes` are read and written in all, or of the nearest size that is measured. */
const char *clfi_peak_copy_limit(double bytes);

typedef enum clfi_peak_real { CLFI_PEAK_FP32, CLFI_PEAK_FP16 } clfi_peak_real;

/* "arithmetic/fp32": multiply-adds from registers, two operations each; flops: a multiple of 2^22. Engines are widths of the vectors and
 * numbers of independent chains. fp32 is checked against double within a bound that its type's head derives, fp16 exactly. fp16 needs
 * cl_khr_fp16. Limits "fp32_gflops", "fp16_gflops". */
clf_status clfi_peak_arithmetic(clfi_workload_list *list, clfi_peak_real real, double flops);

/* "arithmetic/bf16": bfloat16 multiply-adds into float32; flops: a multiple of 2^22. Unsupported but on x86 processors with an instruction
 * for it, under a compiler that takes it. Limit "bf16_gflops". */
clf_status clfi_peak_bf16(clfi_workload_list *list, double flops);

/* "arithmetic/matrix": products of 16-bit numbers on the device's matrix unit (runtime/matrix_unit.h), summed in float32; flops: a power of
 * two from 2^20 on. Engines are numbers of blocks in a wave's registers. Unsupported without a unit that passed its probe, and, beyond 2^24
 * operations, on an emulated one. Limit CLFI_MATRIX_LIMIT. */
#define CLFI_MATRIX_LIMIT "matrix_gflops"
clf_status clfi_peak_matrix(clfi_workload_list *list, double flops);

/* "arithmetic/int8-dot": dot products of four bytes, eight operations each, where the device has cl_khr_integer_dot_product; engines: its
 * function, and plain arithmetic. operations: a multiple of 2^22. Limit "int8_gops". */
clf_status clfi_peak_integer_dot(clfi_workload_list *list, double operations);

/* "local/read": local memory read; bytes: a multiple of 2^22. Limit "local_gbps". */
clf_status clfi_peak_local(clfi_workload_list *list, double bytes);

/* "launch/chained-256": that many smallest kernels, each after the one before, then one wait. 1: "launch/round-trip", limit
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
