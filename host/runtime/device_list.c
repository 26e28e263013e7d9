/* SPDX-License-Identifier: MIT */
/* Lists all devices of the machine, recognises the same hardware behind two drivers, ranks devices and selects one. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "runtime/device.h"
#include "runtime/driver_lock.h"
#include "runtime/pocl.h"

enum { UUID_BYTES = 16, QUERY_DEVICE_UUID = 0x106A, QUERY_PCI_BUS_INFO = 0x410F };

static clf_status add_note(clf_device_list *list, const char *platform, const char *text)
{
    clf_str note = CLF_STR_INIT;
    size_t capacity = list->note_count;
    clf_status st = clfi_str_appendf(&note, "%s: %s", platform, text);
    if (st == CLF_OK)
        st = clfi_grow(&list->notes, &capacity, list->note_count + 1, sizeof *list->notes, "device notes");
    if (st != CLF_OK) {
        clfi_str_free(&note);
        return st;
    }
    list->notes[list->note_count++] = note.data;
    return CLF_OK;
}

static clf_status add_failure(clf_device_list *list, const char *platform, const char *call, cl_int code)
{
    char text[96];
    snprintf(text, sizeof text, "%s: %s (%d)", call, clfi_cl_name(code), code);
    return add_note(list, platform, text);
}

/* Remembers the first reason why devices may be missing from the list. */
static clf_status doubt(clf_device_list *list, const char *name, const char *reason)
{
    clf_str text = CLF_STR_INIT;
    if (list->failure)
        return CLF_OK;
    const clf_status st = clfi_str_appendf(&text, "%s: %s", name, reason);
    if (st == CLF_OK)
        list->failure = text.data;
    else
        clfi_str_free(&text);
    return st;
}

/* Notes that a platform's driver did not list its devices. */
static clf_status miss_devices(clf_device_list *list, const char *platform, size_t platform_index, cl_int code)
{
    CLF_TRY(add_failure(list, platform, "clGetDeviceIDs", code));
    if (list->failed_platform == SIZE_MAX)
        list->failed_platform = platform_index;
    if (list->failure)
        return CLF_OK;
    return clfi_strdup(list->notes[list->note_count - 1], &list->failure);
}

static const char *no_devices(const char *platform)
{
    const char *trouble = strcmp(platform, CLFI_POCL_PLATFORM) == 0 ? clfi_pocl_cache_trouble() : "";
    return trouble[0] ? trouble : "no devices";
}

static clf_status add_devices(clf_device_list *list, cl_platform_id platform, const char *name, size_t platform_index)
{
    cl_uint count = 0;
    cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
    if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && count == 0))
        return add_note(list, name, no_devices(name));
    if (code != CL_SUCCESS)
        return miss_devices(list, name, platform_index, code);
    cl_device_id *ids;
    size_t capacity = list->count;
    CLF_TRY(clfi_alloc(count, sizeof *ids, "device list", &ids));
    clf_status st = clfi_grow(&list->devices, &capacity, list->count + count, sizeof *list->devices, "device list");
    if (st == CLF_OK && (code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids, NULL)) != CL_SUCCESS) {
        st = miss_devices(list, name, platform_index, code);
        count = 0;
    }
    for (cl_uint i = 0; st == CLF_OK && i < count; i++) {
        clf_device *device = &list->devices[list->count];
        st = clfi_device_query(platform, ids[i], device);
        if (st == CLF_OK) {
            device->info.index = list->count++;
            device->info.platform_index = platform_index;
            device->info.platform_device_index = i;
            if (device->is_unknown)
                st = doubt(list, device->info.name[0] ? device->info.name : name, device->info.reason);
        }
    }
    free(ids);
    return st;
}

static clf_status add_platform(clf_device_list *list, cl_platform_id platform, size_t platform_index)
{
    char *name;
    cl_int code;
    CLF_TRY(clfi_platform_name(platform, &code, &name));
    const char *shown = name[0] ? name : "unnamed platform";
    clf_status st = code == CL_SUCCESS ? CLF_OK : add_failure(list, shown, "clGetPlatformInfo", code);
    if (st == CLF_OK) /* the devices are listed all the same, as unusable ones if their driver fails again */
        st = add_devices(list, platform, shown, platform_index);
    free(name);
    return st;
}

/* Larger is better, for the default and among several devices that a selector matches. Usable devices come first, then the class decides:
 * GPUs with their own memory, other GPUs, accelerators, CPUs and others, software rasterizers. Then the number of compute units decides,
 * then the clock. */
static uint64_t score(const clf_device *device)
{
    const clf_device_info *info = &device->info;
    const uint64_t class_of = info->type == CLF_DEVICE_TYPE_GPU           ? (info->unified_memory ? 4 : 5)
                              : info->type == CLF_DEVICE_TYPE_ACCELERATOR ? 3
                              : device->is_software_rasterizer            ? 1
                                                                          : 2;
    return (info->usable ? UINT64_C(1) << 60 : 0) | class_of << 50 | (uint64_t)info->compute_units << 16 | (info->clock_mhz & 0xffff);
}

static bool runs_on_host(const clf_device *device)
{
    return device->info.type == CLF_DEVICE_TYPE_CPU || device->is_software_rasterizer;
}

/* Devices that run on the host's processor are the same hardware. Other devices are the same if they have one type, different platforms,
 * and the same UUID or, if a driver reports none, the same PCI address. */
static bool same_hardware(const clf_device *a, const clf_device *b)
{
    unsigned char ua[UUID_BYTES], ub[UUID_BYTES];
    cl_uint pa[4], pb[4];
    if (runs_on_host(a) && runs_on_host(b))
        return true;
    if (a->info.type != b->info.type || a->platform == b->platform)
        return false;
    if (clGetDeviceInfo(a->id, QUERY_DEVICE_UUID, sizeof ua, ua, NULL) == CL_SUCCESS &&
        clGetDeviceInfo(b->id, QUERY_DEVICE_UUID, sizeof ub, ub, NULL) == CL_SUCCESS)
        return memcmp(ua, ub, sizeof ua) == 0;
    return clGetDeviceInfo(a->id, QUERY_PCI_BUS_INFO, sizeof pa, pa, NULL) == CL_SUCCESS &&
           clGetDeviceInfo(b->id, QUERY_PCI_BUS_INFO, sizeof pb, pb, NULL) == CL_SUCCESS && memcmp(pa, pb, sizeof pa) == 0;
}

static const char *default_reason(const clf_device *device)
{
    switch (device->info.type) {
    case CLF_DEVICE_TYPE_GPU:
        return device->info.unified_memory ? "integrated GPU; no usable GPU with its own memory was found"
                                           : "the largest GPU with its own memory";
    case CLF_DEVICE_TYPE_ACCELERATOR:
        return "accelerator; no usable GPU was found";
    default:
        return device->is_software_rasterizer ? "software rasterizer; nothing better was found" : "no usable GPU or accelerator was found";
    }
}

/* Marks the default device, and devices that are the same hardware. */
static void rank_devices(clf_device_list *list)
{
    clf_device *best = NULL;
    for (size_t i = 0; i < list->count; i++) {
        clf_device *device = &list->devices[i];
        for (size_t j = 0; j < i && device->info.same_hardware_as < 0; j++)
            if (same_hardware(device, &list->devices[j]))
                device->info.same_hardware_as = (int)j;
        if (device->info.usable && (!best || score(device) > score(best)))
            best = device;
    }
    if (best) {
        best->info.is_default = 1;
        best->info.default_reason = default_reason(best);
    }
}

/* OpenCL loaders skip drivers that they cannot open. Drivers that cannot open their own files end the process or find no compiler. */
static clf_status check_files(void)
{
    enum { NEEDED = 16 };
    int files[NEEDED], count = 0;
    for (; count < NEEDED; count++)
        if ((files[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
            break;
    const int reason = count < NEEDED ? errno : 0;
    for (int i = 0; i < count; i++)
        close(files[i]);
    if (reason == EMFILE || reason == ENFILE)
        CLF_FAIL(CLF_IO, "OpenCL: drivers need %d more open files, only %d can be opened: %s (raise ulimit -n)", NEEDED, count,
                 strerror(reason));
    return CLF_OK;
}

/* *out: the caller frees it, also after a failure. *out_count 0: the loader knows no platform. */
static clf_status get_platforms(cl_platform_id **out, cl_uint *out_count)
{
    enum { NO_PLATFORM = -1001 }; /* CL_PLATFORM_NOT_FOUND_KHR of cl_khr_icd */
    cl_uint count = 0;
    cl_int code = clGetPlatformIDs(0, NULL, &count);
    if (code == NO_PLATFORM) {
        code = CL_SUCCESS;
        count = 0;
    }
    if (code == CL_SUCCESS)
        CLF_TRY(clfi_alloc(count, sizeof **out, "platform list", out));
    if (code == CL_SUCCESS && count)
        code = clGetPlatformIDs(count, *out, NULL);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "clGetPlatformIDs: %s (%d)", clfi_cl_name(code), code);
    *out_count = count;
    return CLF_OK;
}

static clf_status create_list(clf_device_list **out)
{
    clf_status st = CLF_OK;
    clf_device_list *list = NULL;
    cl_platform_id *platforms = NULL;
    cl_uint count = 0;
    if (!out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "device list: out must not be NULL");
    CLF_GOTO(clfi_alloc(1, sizeof *list, "device list", &list));
    list->failed_platform = SIZE_MAX;
    CLF_GOTO(check_files());
    CLF_GOTO(get_platforms(&platforms, &count));
    if (count == 0)
        CLF_GOTO(
            add_note(list, "OpenCL", "no OpenCL platform is installed (install pocl-opencl-icd for CPUs, the vendor's driver for GPUs)"));
    for (cl_uint i = 0; i < count; i++)
        CLF_GOTO(add_platform(list, platforms[i], i));
    rank_devices(list);
    *out = list;
    list = NULL;
done:
    free(platforms);
    clf_device_list_destroy(list);
    return st;
}

clf_status clf_device_list_create(clf_device_list **out)
{
    clfi_driver_prepare();
    clfi_driver_lock(true); /* loaders and drivers initialise themselves here */
    const clf_status st = create_list(out);
    clfi_driver_unlock(true);
    return st;
}

void clf_device_list_destroy(clf_device_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->count; i++)
        clfi_device_clear(&list->devices[i]);
    for (size_t i = 0; i < list->note_count; i++)
        free(list->notes[i]);
    free(list->notes);
    free(list->failure);
    free(list->devices);
    free(list);
}

size_t clf_device_list_count(const clf_device_list *list)
{
    return list ? list->count : 0;
}

const clf_device_info *clf_device_list_get(const clf_device_list *list, size_t index)
{
    return list && index < list->count ? &list->devices[index].info : NULL;
}

const char *clf_device_list_note(const clf_device_list *list, size_t index)
{
    return list && index < list->note_count ? list->notes[index] : NULL;
}

static bool contains(const char *text, const char *part)
{
    return strcasestr(text, part) != NULL;
}

const char *clfi_device_selector(const char *given)
{
    return given ? given : getenv("CLF_DEVICE");
}

static bool is_index(const char *selector)
{
    return selector[0] && selector[strspn(selector, "0123456789")] == '\0';
}

/* Parses a selector of the form "platform:device". */
static bool is_place(const char *selector, size_t *platform, size_t *device)
{
    int used = 0;
    return sscanf(selector, "%zu:%zu%n", platform, device, &used) == 2 && selector[used] == '\0';
}

const char *clfi_device_list_doubt(const clf_device_list *list, const char *selector)
{
    size_t platform, device;
    return selector && (is_index(selector) || is_place(selector, &platform, &device)) ? NULL : list->failure;
}

static bool matches(const clf_device *device, const char *selector)
{
    static const char *const types[] = {"cpu", "gpu", "accelerator"};
    const clf_device_info *info = &device->info;
    size_t platform, index;
    if (is_index(selector))
        return strtoull(selector, NULL, 10) == info->index;
    if (is_place(selector, &platform, &index))
        return platform == info->platform_index && index == info->platform_device_index;
    for (size_t i = 0; i < COUNT(types); i++)
        if (strcasecmp(selector, types[i]) == 0)
            return info->type == (clf_device_type)i;
    return contains(info->name, selector) || contains(info->vendor, selector) || contains(info->platform_name, selector);
}

static clf_status append_device(clf_str *text, const clf_device_info *info)
{
    CLF_TRY(clfi_str_appendf(text, "%s%zu: %s (%s)", text->length ? "; " : "", info->index, info->name, info->platform_name));
    return info->usable ? CLF_OK : clfi_str_appendf(text, ", which cannot be used: %s", info->reason);
}

static clf_status fail_not_found(const clf_device_list *list, const char *selector)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < list->count; i++)
        st = append_device(&text, &list->devices[i].info);
    for (size_t i = 0; st == CLF_OK && i < list->note_count; i++)
        st = clfi_str_appendf(&text, "%s%s", text.length ? "; " : "", list->notes[i]);
    if (st == CLF_OK)
        st = selector ? clfi_fail(CLF_NOT_FOUND, "no device matches \"%s\"; found: %s", selector, clfi_str_text(&text))
                      : clfi_fail(CLF_NOT_FOUND, "no usable OpenCL device; found: %s", clfi_str_text(&text));
    clfi_str_free(&text);
    return st;
}

clf_status clf_device_list_select(const clf_device_list *list, const char *selector, size_t *out_index)
{
    const clf_device *best = NULL;
    if (!list || !out_index)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "device list select: list and out_index must not be NULL");
    const bool any = !selector || !selector[0];
    for (size_t i = 0; i < list->count; i++) {
        const clf_device *device = &list->devices[i];
        if ((any ? device->info.is_default : matches(device, selector)) && (!best || score(device) > score(best)))
            best = device;
    }
    if (!best)
        return fail_not_found(list, any ? NULL : selector);
    if (!any && is_index(selector) && list->failed_platform < best->info.platform_index)
        CLF_FAIL(CLF_DEVICE, "device %s: ambiguous, because the devices of an earlier platform are missing: %s", selector, list->failure);
    if (!best->info.usable)
        CLF_FAIL(CLF_UNSUPPORTED, "device %zu (%s) cannot be used: %s", best->info.index, best->info.name, best->info.reason);
    *out_index = best->info.index;
    return CLF_OK;
}
