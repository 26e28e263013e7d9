/* SPDX-License-Identifier: MIT */
/* One device: what the driver says of it, the capabilities that follow, and the quirks of drivers (the one place that knows names). */
#include "runtime/device.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

enum { MIN_WORK_GROUP_SIZE = 64 };

/* CL_DEVICE_... query of a text, trimmed; broken UTF-8 becomes '?'. */
static clf_status device_text(cl_device_id id, cl_device_info what, char **out)
{
    size_t size = 0;
    if (clGetDeviceInfo(id, what, 0, NULL, &size) != CL_SUCCESS)
        size = 0;
    char *text;
    CLF_TRY(clfi_alloc(size + 1, 1, "device text", &text));
    if (size && clGetDeviceInfo(id, what, size, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    size_t length = strlen(text), start = strspn(text, " \t");
    while (length > start && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    memmove(text, text + start, length - start);
    text[length - start] = '\0';
    const bool is_utf8 = clfi_utf8_check((const unsigned char *)text, strlen(text)) == strlen(text);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || (!is_utf8 && (unsigned char)*c >= 0x7f))
            *c = '?';
    *out = text;
    return CLF_OK;
}

#define QUERY(id, what, variable) (clGetDeviceInfo((id), (what), sizeof(variable), &(variable), NULL) == CL_SUCCESS)

static uint64_t query_u64(cl_device_id id, cl_device_info what)
{
    cl_ulong value = 0;
    return QUERY(id, what, value) ? value : 0;
}

static uint32_t query_u32(cl_device_id id, cl_device_info what)
{
    cl_uint value = 0;
    return QUERY(id, what, value) ? value : 0;
}

static bool query_bool(cl_device_id id, cl_device_info what)
{
    cl_bool value = CL_FALSE;
    return QUERY(id, what, value) && value;
}

/* Whole-word search in the space-separated extension list. */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* "OpenCL 1.2 ..." or "OpenCL C 1.2 ..." as 102; 0 when it does not parse. */
static int parse_version(const char *text, const char *prefix)
{
    int major = 0, minor = 0;
    if (strncmp(text, prefix, strlen(prefix)) != 0 || sscanf(text + strlen(prefix), "%d.%d", &major, &minor) != 2)
        return 0;
    return major * 100 + minor;
}

static clf_device_type device_type(cl_device_id id)
{
    cl_device_type type = 0;
    if (!QUERY(id, CL_DEVICE_TYPE, type))
        return CLF_DEVICE_TYPE_OTHER;
    if (type & CL_DEVICE_TYPE_CPU) /* Oclgrind claims every type at once: it is an interpreter on the CPU */
        return CLF_DEVICE_TYPE_CPU;
    if (type & CL_DEVICE_TYPE_GPU)
        return CLF_DEVICE_TYPE_GPU;
    return type & CL_DEVICE_TYPE_ACCELERATOR ? CLF_DEVICE_TYPE_ACCELERATOR : CLF_DEVICE_TYPE_OTHER;
}

/* Why the device cannot be used, "" if it can. */
static const char *refusal(const clf_device *device)
{
    const cl_device_id id = device->id;
    if (!query_bool(id, CL_DEVICE_AVAILABLE))
        return "the driver says that it is not available";
    if (!query_bool(id, CL_DEVICE_COMPILER_AVAILABLE))
        return "no OpenCL C compiler";
    if (parse_version(device->info.device_version, "OpenCL ") < 102)
        return "OpenCL 1.2 or newer is needed";
    if (parse_version(device->info.opencl_c_version, "OpenCL C ") < 102)
        return "OpenCL C 1.2 or newer is needed";
    if (!query_bool(id, CL_DEVICE_ENDIAN_LITTLE))
        return "big-endian devices are not supported";
    if (device->info.max_work_group_size < MIN_WORK_GROUP_SIZE)
        return "work-groups of at least 64 items are needed";
    return "";
}

static clf_status query_extensions(clf_device *device)
{
    char *extensions;
    CLF_TRY(device_text(device->id, CL_DEVICE_EXTENSIONS, &extensions));
    device->info.has_fp16 = has_word(extensions, "cl_khr_fp16");
    device->info.has_fp64 = has_word(extensions, "cl_khr_fp64");
    device->info.has_subgroups = has_word(extensions, "cl_khr_subgroups") || has_word(extensions, "cl_intel_subgroups");
    device->info.has_integer_dot = has_word(extensions, "cl_khr_integer_dot_product");
    free(extensions);
    return CLF_OK;
}

static void set_caps(clf_device *device)
{
    const clf_device_info *info = &device->info;
    clf_device_caps *caps = &device->caps;
    caps->is_cpu = info->type == CLF_DEVICE_TYPE_CPU;
    const uint32_t width = info->native_vector_width_float;
    caps->vector_width = width >= 16 ? 16 : width >= 8 ? 8 : 4;
    caps->compute_units = info->compute_units;
    caps->max_work_group_size = info->max_work_group_size;
    caps->local_memory_bytes = info->local_memory_bytes;
    caps->max_allocation_bytes = info->max_allocation_bytes;
    caps->base_alignment_bytes = info->base_alignment_bytes;
    caps->unified_memory = info->unified_memory;
    caps->has_fp16 = info->has_fp16;
    caps->has_subgroups = info->has_subgroups;
    caps->has_integer_dot = info->has_integer_dot;

    /* Quirks. */
    device->is_software_rasterizer = strstr(info->name, "llvmpipe") || strstr(info->name, "softpipe");
    if (device->is_software_rasterizer) {
        caps->is_cpu = false; /* the CPU family's unrolled kernels are what its compiler is slow at */
        caps->slow_compiler = true;
        caps->short_loops = true;
    }
}

clf_status clfi_device_query(cl_platform_id platform, cl_device_id id, clf_device *out)
{
    clf_device device = {.platform = platform, .id = id};
    clf_device_info *info = &device.info;
    clf_status st = CLF_OK;
    size_t size = 0;
    char *text[6] = {NULL, NULL, NULL, NULL, NULL, NULL};
    info->type = device_type(id);
    info->compute_units = query_u32(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->clock_mhz = query_u32(id, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    info->global_memory_bytes = query_u64(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->max_allocation_bytes = query_u64(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->local_memory_bytes = query_u64(id, CL_DEVICE_LOCAL_MEM_SIZE);
    info->base_alignment_bytes = query_u32(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8; /* the driver answers in bits */
    if (info->base_alignment_bytes == 0)
        info->base_alignment_bytes = 128;
    info->max_work_group_size = QUERY(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, size) ? size : 0;
    info->native_vector_width_float = query_u32(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
    info->unified_memory = query_bool(id, CL_DEVICE_HOST_UNIFIED_MEMORY) || info->type == CLF_DEVICE_TYPE_CPU;
    info->same_hardware_as = -1;

    static const cl_device_info texts[5] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DRIVER_VERSION, CL_DEVICE_VERSION,
                                            CL_DEVICE_OPENCL_C_VERSION};
    for (int i = 0; i < 5; i++)
        CLF_GOTO(device_text(id, texts[i], &text[i]));
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, NULL, &size) != CL_SUCCESS)
        size = 0;
    CLF_GOTO(clfi_alloc(size + 1, 1, "platform name", &text[5]));
    if (size)
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, text[5], NULL);
    info->name = text[0];
    info->vendor = text[1];
    info->driver_version = text[2];
    info->device_version = text[3];
    info->opencl_c_version = text[4];
    info->platform_name = text[5];
    CLF_GOTO(query_extensions(&device));
    info->reason = refusal(&device);
    info->usable = info->reason[0] == '\0';
    info->default_reason = "";
    set_caps(&device);
    *out = device;
    return CLF_OK;
done:
    for (int i = 0; i < 6; i++)
        free(text[i]);
    return st;
}

void clfi_device_clear(clf_device *device)
{
    const clf_device_info *info = &device->info;
    free((char *)info->name);
    free((char *)info->vendor);
    free((char *)info->driver_version);
    free((char *)info->device_version);
    free((char *)info->opencl_c_version);
    free((char *)info->platform_name);
    memset(device, 0, sizeof *device);
}

clf_status clfi_device_copy(const clf_device *from, clf_device *out)
{
    clf_device copy = *from;
    const char **texts[] = {&copy.info.name, &copy.info.vendor, &copy.info.driver_version, &copy.info.device_version,
                            &copy.info.opencl_c_version, &copy.info.platform_name};
    clf_status st = CLF_OK;
    size_t done = 0;
    for (; done < COUNT(texts); done++) {
        char *text = NULL;
        st = clfi_strdup(*texts[done], &text);
        if (st != CLF_OK)
            break;
        *texts[done] = text;
    }
    if (st != CLF_OK) {
        while (done > 0)
            free((char *)*texts[--done]);
        return st;
    }
    *out = copy;
    return CLF_OK;
}
