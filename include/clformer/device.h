/* SPDX-License-Identifier: MIT */
/* Devices: every OpenCL platform and device of this machine, what each can do, and which one a selector means. */
#ifndef CLFORMER_DEVICE_H
#define CLFORMER_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "clformer/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum clf_device_type {
    CLF_DEVICE_TYPE_CPU,
    CLF_DEVICE_TYPE_GPU,
    CLF_DEVICE_TYPE_ACCELERATOR,
    CLF_DEVICE_TYPE_OTHER
} clf_device_type;

/* Facts about one device. Texts are UTF-8, never NULL, owned by the list (or the context) that handed the struct out. */
typedef struct clf_device_info {
    size_t index;                 /* in the list; a numeric selector is this index */
    size_t platform_index;        /* of its platform, ... */
    size_t platform_device_index; /* ... and its index there: selector "platform:device" */
    clf_device_type type;
    const char *platform_name;
    const char *name;
    const char *vendor;
    const char *driver_version;
    const char *device_version;   /* "OpenCL 3.0 ..." */
    const char *opencl_c_version; /* "OpenCL C 1.2 ..." */
    uint32_t compute_units;
    uint32_t clock_mhz;                 /* 0 when the driver does not say */
    uint64_t global_memory_bytes;
    uint64_t max_allocation_bytes;
    uint64_t local_memory_bytes;
    uint64_t base_alignment_bytes;      /* of buffer sub-regions and host pointers */
    size_t max_work_group_size;
    uint32_t native_vector_width_float; /* elements; 1 on most GPUs */
    int unified_memory;                 /* device and host share memory: weights are used where they are mapped */
    int has_fp16;                       /* arithmetic; f16 storage works everywhere */
    int has_fp64;
    int has_subgroups;
    int has_integer_dot;
    int same_hardware_as; /* index of an earlier device that is the same piece of hardware, or -1 */
    int usable;           /* 0: `reason` says why not */
    const char *reason;   /* why it cannot be used; "" when it can */
    int is_default;
    const char *default_reason; /* why it is the default; "" on others */
} clf_device_info;

typedef struct clf_device_list clf_device_list;

/* Asks the OpenCL loader for every platform and device. A machine without any gives an empty list and a note, not an error. Before the
 * first OpenCL call of the process this sets two variables of PoCL, unless they are set. POCL_AFFINITY=1: PoCL's threads otherwise share
 * one core. POCL_CACHE_DIR, where neither XDG_CACHE_HOME nor HOME can be written: a private folder below TMPDIR, because PoCL otherwise has
 * no devices. *out: the caller destroys it. OUT_OF_MEMORY. IO: the process may not open as many more files as drivers need. DEVICE: the
 * loader does not list its platforms. */
CLF_API CLF_NODISCARD clf_status clf_device_list_create(clf_device_list **out);
CLF_API void clf_device_list_destroy(clf_device_list *list); /* NULL is a no-op */

CLF_API size_t clf_device_list_count(const clf_device_list *list);

/* Borrowed until the list is destroyed; NULL when index is out of range. */
CLF_API const clf_device_info *clf_device_list_get(const clf_device_list *list, size_t index);

/* Notes about the search for devices, such as a platform without devices. Borrowed; NULL past the end. */
CLF_API const char *clf_device_list_note(const clf_device_list *list, size_t index);

/* The device that `selector` means: an index as listed ("0"), "platform:device" ("1:0"), a type ("cpu", "gpu", "accelerator"), or a part of
 * a device's, vendor's or platform's name, any case. Several matches: the best usable one (GPUs with their own memory, integrated GPUs,
 * accelerators, CPUs; more compute units first). NULL or "": the default device. NOT_FOUND: nothing matches; the reason lists what there
 * is. UNSUPPORTED: what matches cannot be used; the reason says why. DEVICE: the selector is an index, and an earlier platform's driver did
 * not list its devices, so the index may be that of another device. */
CLF_API CLF_NODISCARD clf_status clf_device_list_select(const clf_device_list *list, const char *selector, size_t *out_index);

#ifdef __cplusplus
}
#endif
#endif
