/* SPDX-License-Identifier: MIT */
/* Devices inside the library: OpenCL handles, the public description, and the capabilities by which kernels are chosen. */
#ifndef CLFI_RUNTIME_DEVICE_H
#define CLFI_RUNTIME_DEVICE_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <stdbool.h>

#include "base/str.h"
#include "clformer/device.h"
#include "runtime/matrix_unit.h"

/* Capabilities that decide between kernel variants. device.c derives them from what a driver reports and
 * from the names of vendors and drivers. */
typedef struct clf_device_caps {
    bool is_cpu;      /* wants work-groups of 1 with wide vectors and no local memory; otherwise the GPU family */
    int vector_width; /* floats in a hardware vector: 4, 8 or 16 on CPUs */
    uint32_t compute_units;
    size_t max_work_group_size;
    uint64_t local_memory_bytes;
    uint64_t max_allocation_bytes;
    uint64_t base_alignment_bytes;
    bool unified_memory;
    bool has_fp16, has_integer_dot;
    int subgroup_size;     /* sub-groups of kernels: 0: none; 1: of the size that the compiler chooses; else of this size */
    bool has_byte_dot;     /* a CPU with AVX512-VNNI or AVX2, and a compiler that takes their inline assembly: cl/cpu/byte_dot.cl */
    bool narrow_byte_dot;  /* has_byte_dot with AVX2, whose products of bytes are added in 16 bits */
    bool has_assembly;     /* the compiler takes inline assembly, or refuses it without ending the process */
    bool has_priority_hints, has_throttle_hints; /* properties of queues; the driver has the call of OpenCL 2.0 that takes them */
    bool small_units;      /* a compute unit is an execution unit; four of them hold as many work-items as a unit of other GPUs */
    bool slow_halves;      /* multiply-adds in half precision (cl_khr_fp16) take longer than those in float32 */
    bool many_registers;   /* 255 registers of 32 bits per work-item, and a compiler that uses them; every GPU has 128 */
    bool slow_compiler;    /* minutes for a kernel of some thousand unrolled instructions; engines with such kernels decline */
    bool prints_warnings;  /* the compiler prints warnings on the program's stderr; builds switch them off (-w) */
    bool mixes_grids;      /* see runtime/queue_order.h */
    bool serial_compiler;  /* builds in several threads at once end the process, even if their contexts differ */
    bool has_ptx;          /* OpenCL C may contain NVIDIA's assembler (PTX) */
    int unit_lanes;        /* float32 multiply-adds that a compute unit begins in a clock, at least */
    clf_matrix_unit matrix_unit;
    bool emulates_matrix_unit; /* its instruction is replaced by ordinary arithmetic: for tests */
    uint32_t graph_groups; /* work-groups of a launch graph, all running at once (runtime/launch_graph.h); 0: no graphs, buffers may move */
    int graph_group;       /* work-items of each of them: 1 on CPUs; on GPUs the size of the kernels' work-groups */
    int graph_rows;        /* most rows (tokens) of a step for which a graph is faster than single launches */
    bool uses_host_memory; /* a CPU whose kernels use host memory in place, as fast as memory that the driver allocates */
    bool blocks_signals;   /* threads that run kernels block signals, so that reading a mapped file that was truncated ends the process */
    bool short_loops;      /* llvmpipe ends a loop silently after 65,535 iterations (nested ones add up) per work-item */
} clf_device_caps;

/* Work-group size of GPU kernels that may be part of a launch graph; `otherwise` if the device has no graphs of work-groups. */
static inline int clfi_graph_group_or(const clf_device_caps *caps, int otherwise)
{
    return caps->graph_group > 1 ? caps->graph_group : otherwise;
}

typedef struct clf_device {
    cl_platform_id platform;
    cl_device_id id;
    clf_device_info info; /* texts point into the heap and belong to this struct */
    clf_device_caps caps;
    bool is_software_rasterizer; /* ranked after all other CPU devices */
    bool is_unknown;             /* the driver did not answer a query, so the device cannot be used */
} clf_device;

struct clf_device_list {
    clf_device *devices;
    size_t count;
    char **notes;
    size_t note_count;
    char *failure;          /* the first failure that may have hidden devices; NULL: there was none */
    size_t failed_platform; /* first platform that did not list its devices: indices after it are not reliable; SIZE_MAX: none */
};

/* The failure of a driver that may have hidden the selected device, borrowed from the list; NULL: none. selector NULL: the default. */
const char *clfi_device_list_doubt(const clf_device_list *list, const char *selector);

/* The selector of a device: `given`, else $CLF_DEVICE, else NULL. */
const char *clfi_device_selector(const char *given);

/* The platform's name in printable characters, "" if the driver does not report it. *out_code: the driver's code. *out: the caller frees
 * it. OUT_OF_MEMORY only. */
clf_status clfi_platform_name(cl_platform_id platform, cl_int *out_code, char **out);

/* Fills *out from the driver. A device that does not answer is no error: it is marked as unusable, with a reason. The caller calls
 * clfi_device_clear. OUT_OF_MEMORY only. */
clf_status clfi_device_query(cl_platform_id platform, cl_device_id id, clf_device *out);
void clfi_device_clear(clf_device *device);

/* Deep copy (the texts too); the caller calls clfi_device_clear. OUT_OF_MEMORY. */
clf_status clfi_device_copy(const clf_device *from, clf_device *out);

/* Appends lines for users: caches, limits, extensions. A query that fails is a line with its error. OUT_OF_MEMORY. */
clf_status clfi_device_details(const clf_device *device, clf_str *out);

/* Name of an OpenCL error code, for example "CL_INVALID_VALUE". */
const char *clfi_cl_name(cl_int code);

#endif
