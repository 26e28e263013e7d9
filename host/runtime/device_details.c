/* SPDX-License-Identifier: MIT */
/* Caches, limits and extensions of a device, which decide nothing here and are for people. */
#include "base/str.h"
#include "runtime/device.h"

#include <stdlib.h>

#include "base/alloc.h"

static cl_ulong number(cl_device_id id, cl_device_info what, size_t size)
{
    cl_ulong wide = 0;
    cl_uint narrow = 0;
    if (size == sizeof narrow)
        return clGetDeviceInfo(id, what, sizeof narrow, &narrow, NULL) == CL_SUCCESS ? narrow : 0;
    return clGetDeviceInfo(id, what, sizeof wide, &wide, NULL) == CL_SUCCESS ? wide : 0;
}

clf_status clfi_device_details(const clf_device *device, clf_str *out)
{
    static const struct {
        const char *label, *unit;
        cl_device_info what;
        size_t size;
    } rows[] = {{"cache", "bytes", CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof(cl_ulong)},
                {"cache line", "bytes", CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, sizeof(cl_uint)},
                {"constants", "bytes", CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, sizeof(cl_ulong)},
                {"arguments", "bytes", CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(size_t)},
                {"printf", "bytes", CL_DEVICE_PRINTF_BUFFER_SIZE, sizeof(size_t)},
                {"timer", "ns", CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof(size_t)},
                {"address", "bits", CL_DEVICE_ADDRESS_BITS, sizeof(cl_uint)},
                {"sub-devices", "at most", CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof(cl_uint)},
                {"images", "(1: yes)", CL_DEVICE_IMAGE_SUPPORT, sizeof(cl_bool)},
                {"vendor id", "", CL_DEVICE_VENDOR_ID, sizeof(cl_uint)}};
    size_t items[8] = {0}, size = 0;
    for (size_t i = 0; i < COUNT(rows); i++)
        CLF_TRY(clfi_str_appendf(out, "   %-13s %llu%s%s\n", rows[i].label,
                                 (unsigned long long)number(device->id, rows[i].what, rows[i].size), rows[i].unit[0] ? " " : "",
                                 rows[i].unit));
    if (clGetDeviceInfo(device->id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items, &size) == CL_SUCCESS && size >= 3 * sizeof items[0])
        CLF_TRY(clfi_str_appendf(out, "   work-items    %zu x %zu x %zu\n", items[0], items[1], items[2]));
    size = 0;
    if (clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return CLF_OK;
    char *text;
    CLF_TRY(clfi_alloc(size + 1, 1, "extensions", &text));
    clf_status st = CLF_OK;
    if (clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, size, text, NULL) == CL_SUCCESS)
        st = clfi_str_appendf(out, "   extensions    %s\n", text);
    free(text);
    return st;
}
