/* SPDX-License-Identifier: MIT */
/* Describes caches, limits and extensions of a device as text for users. The library bases no decision on them. */
#include "base/str.h"
#include "runtime/device.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

static cl_int number(cl_device_id id, cl_device_info what, size_t size, cl_ulong *out)
{
    cl_uint narrow = 0;
    cl_int code;
    if (size != sizeof narrow)
        return clGetDeviceInfo(id, what, sizeof *out, out, NULL);
    code = clGetDeviceInfo(id, what, sizeof narrow, &narrow, NULL);
    *out = narrow;
    return code;
}

/* Appends a line for a query that failed, with its error. */
static clf_status add_failure(const char *label, cl_int code, clf_str *out)
{
    return clfi_str_appendf(out, "   %-13s unknown: clGetDeviceInfo: %s (%d)\n", label, clfi_cl_name(code), code);
}

static clf_status add_extensions(cl_device_id id, clf_str *out)
{
    size_t size = 0;
    cl_int code = clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size);
    if (code == CL_SUCCESS && size == 0)
        return CLF_OK;
    char *text = NULL;
    if (code == CL_SUCCESS) {
        CLF_TRY(clfi_alloc(size + 1, 1, "extensions", &text));
        code = clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, text, NULL);
    }
    if (code == CL_SUCCESS)
        clfi_utf8_make_printable(text, strlen(text));
    const clf_status st = code == CL_SUCCESS ? clfi_str_appendf(out, "   extensions    %s\n", text) : add_failure("extensions", code, out);
    free(text);
    return st;
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
    for (size_t i = 0; i < COUNT(rows); i++) {
        cl_ulong value = 0;
        const cl_int code = number(device->id, rows[i].what, rows[i].size, &value);
        if (code != CL_SUCCESS)
            CLF_TRY(add_failure(rows[i].label, code, out));
        else
            CLF_TRY(clfi_str_appendf(out, "   %-13s %llu%s%s\n", rows[i].label, (unsigned long long)value, rows[i].unit[0] ? " " : "",
                                     rows[i].unit));
    }
    const cl_int code = clGetDeviceInfo(device->id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items, &size);
    if (code != CL_SUCCESS)
        CLF_TRY(add_failure("work-items", code, out));
    else if (size >= 3 * sizeof items[0])
        CLF_TRY(clfi_str_appendf(out, "   work-items    %zu x %zu x %zu\n", items[0], items[1], items[2]));
    return add_extensions(device->id, out);
}
