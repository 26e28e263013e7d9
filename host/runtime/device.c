/* SPDX-License-Identifier: MIT */
/* Queries one device, derives its capabilities, and knows the quirks of vendors and drivers. Three other files look at names: matrix_unit.c
 * finds the unit of a device by its platform, program.c ignores a wrong limit of rusticl, and device_list.c explains why PoCL has no
 * devices. */
#include "runtime/device.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include "runtime/pocl.h"
#include "runtime/processor.h"

enum {
    MIN_WORK_GROUP_SIZE = 64,
    NARROW_UNIT_LANES = 8, /* an execution unit of Intel's GPUs; a core of GPUs in phones has at least as many */
    WIDE_UNIT_LANES = 64   /* a compute unit of AMD's GPUs, a multiprocessor of NVIDIA's */
};

/* State of a survey of one device, with the first query that its driver did not answer. */
typedef struct survey {
    cl_device_id id;
    const char *failed; /* NULL: everything was answered */
    cl_int code;
} survey;

static bool note(survey *s, cl_int code, const char *name)
{
    if (code != CL_SUCCESS && !s->failed) {
        s->failed = name;
        s->code = code;
    }
    return code == CL_SUCCESS;
}

#define QUERY(s, what, variable) \
    note((s), clGetDeviceInfo((s)->id, (what), sizeof(variable), &(variable), NULL), "clGetDeviceInfo of " #what)

/* Removes blanks at both ends. Control characters, and in text that is not UTF-8 all bytes above 127, become '?'. */
static void clean(char *text)
{
    size_t length = strlen(text), start = strspn(text, " \t");
    while (length > start && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    memmove(text, text + start, length - start);
    text[length - start] = '\0';
    const bool is_utf8 = clfi_utf8_check((const unsigned char *)text, strlen(text)) == strlen(text);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f || (!is_utf8 && (unsigned char)*c >= 0x80))
            *c = '?';
}

/* Queries a text (CL_DEVICE_...) and cleans it. *out: the caller frees it; "" if the driver does not answer. */
static clf_status device_text(survey *s, cl_device_info what, const char *name, char **out)
{
    size_t size = 0;
    if (!note(s, clGetDeviceInfo(s->id, what, 0, NULL, &size), name))
        size = 0;
    char *text;
    CLF_TRY(clfi_alloc(size + 1, 1, "device text", &text));
    if (size && !note(s, clGetDeviceInfo(s->id, what, size, text, NULL), name))
        text[0] = '\0';
    clean(text);
    *out = text;
    return CLF_OK;
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

static clf_device_type device_type(cl_device_type type)
{
    if (type & CL_DEVICE_TYPE_CPU) /* Oclgrind claims every type at once: it is an interpreter on the CPU */
        return CLF_DEVICE_TYPE_CPU;
    if (type & CL_DEVICE_TYPE_GPU)
        return CLF_DEVICE_TYPE_GPU;
    return type & CL_DEVICE_TYPE_ACCELERATOR ? CLF_DEVICE_TYPE_ACCELERATOR : CLF_DEVICE_TYPE_OTHER;
}

/* Returns why the device cannot be used, "" if it can. */
static const char *refusal(survey *s, const clf_device *device)
{
    cl_bool is_available = CL_FALSE, has_compiler = CL_FALSE, is_little_endian = CL_FALSE;
    QUERY(s, CL_DEVICE_AVAILABLE, is_available);
    QUERY(s, CL_DEVICE_COMPILER_AVAILABLE, has_compiler);
    QUERY(s, CL_DEVICE_ENDIAN_LITTLE, is_little_endian);
    if (s->failed)
        return s->failed;
    if (!is_available)
        return "the driver reports it as unavailable";
    if (!has_compiler)
        return "no OpenCL C compiler";
    if (parse_version(device->info.device_version, "OpenCL ") < 102)
        return "OpenCL 1.2 or newer is needed";
    if (parse_version(device->info.opencl_c_version, "OpenCL C ") < 102)
        return "OpenCL C 1.2 or newer is needed";
    if (!is_little_endian)
        return "big-endian devices are not supported";
    if (device->info.max_work_group_size < MIN_WORK_GROUP_SIZE)
        return "work-groups of at least 64 items are needed";
    return strcmp(device->info.platform_name, CLFI_POCL_PLATFORM) == 0 ? clfi_pocl_link_trouble() : "";
}

/* Finds the size of sub-groups and the matrix unit. Values that the driver does not report stay 0. Intel's compilers would choose a size of
 * sub-groups for each kernel. So kernels require SUBGROUP, which all of Intel's GPUs have, and a probe tests the size that kernels use. */
static void find_lanes(const char *extensions, clf_device *device)
{
    enum { NVIDIA_MAJOR = 0x4000, NVIDIA_MINOR = 0x4001, SUB_GROUP_SIZES = 0x4108, MOST_SIZES = 8, SUBGROUP = 16 };
    clf_matrix_unit_signs signs = {.platform = device->info.platform_name, .device = device->info.name, .extensions = extensions};
    cl_uint major = 0, minor = 0;
    size_t sizes[MOST_SIZES] = {0}, bytes = 0;
    device->caps.subgroup_size = device->info.has_subgroups;
    if (has_word(extensions, "cl_nv_device_attribute_query") &&
        clGetDeviceInfo(device->id, NVIDIA_MAJOR, sizeof major, &major, NULL) == CL_SUCCESS &&
        clGetDeviceInfo(device->id, NVIDIA_MINOR, sizeof minor, &minor, NULL) == CL_SUCCESS) {
        signs.nvidia_major = major;
        signs.nvidia_minor = minor;
    }
    if (has_word(extensions, "cl_intel_required_subgroup_size") &&
        clGetDeviceInfo(device->id, SUB_GROUP_SIZES, sizeof sizes, sizes, &bytes) == CL_SUCCESS)
        for (size_t i = 0; i < bytes / sizeof *sizes && i < MOST_SIZES; i++) {
            if (signs.least_subgroup == 0 || sizes[i] < signs.least_subgroup)
                signs.least_subgroup = (unsigned)sizes[i];
            if (sizes[i] == SUBGROUP && device->info.has_subgroups)
                device->caps.subgroup_size = SUBGROUP;
        }
    device->caps.matrix_unit = clfi_matrix_unit_of(&signs);
}

static clf_status query_extensions(survey *s, clf_device *device)
{
    char *extensions;
    CLF_TRY(device_text(s, CL_DEVICE_EXTENSIONS, "clGetDeviceInfo of CL_DEVICE_EXTENSIONS", &extensions));
    device->info.has_fp16 = has_word(extensions, "cl_khr_fp16");
    device->info.has_fp64 = has_word(extensions, "cl_khr_fp64");
    device->info.has_subgroups = has_word(extensions, "cl_khr_subgroups") || has_word(extensions, "cl_intel_subgroups");
    device->info.has_integer_dot = has_word(extensions, "cl_khr_integer_dot_product");
    const bool takes_properties = parse_version(device->info.device_version, "OpenCL ") >= 200;
    device->caps.has_priority_hints = takes_properties && has_word(extensions, "cl_khr_priority_hints");
    device->caps.has_throttle_hints = takes_properties && has_word(extensions, "cl_khr_throttle_hints");
    find_lanes(extensions, device);
    free(extensions);
    return CLF_OK;
}

/* Whether this PoCL compiles inline assembly: releases 4.0 to 6.0 end the process if a kernel has any. */
static bool pocl_takes_assembly(const char *driver_version)
{
    const int version = parse_version(driver_version, "");
    return version < 400 || version >= 700;
}

/* The unit of this processor that an implementation reaches by inline assembly. Intel's takes no vectors as operands. */
static clf_matrix_unit processor_unit(bool is_pocl)
{
    return clfi_processor_has_bf16_tiles()            ? CLFI_MATRIX_X86_AMX
           : is_pocl && clfi_processor_has_bf16_dot() ? CLFI_MATRIX_X86_BF16
                                                      : CLFI_MATRIX_NONE;
}

/* Sizes of launch graphs on GPUs: enough items for a unit to wait for several loads at once, and few enough groups for a barrier of a
 * microsecond. GRAPH_ROWS: on an H200, single launches are 1.13 times as fast as graphs for steps of sixteen sequences, but 0.68 times as
 * fast for steps of one. */
enum { GRAPH_GROUPS_PER_UNIT = 2, GRAPH_GROUP = 256, GRAPH_ROWS = 8 };

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
    /* Rusticl lacks it on older GPUs (https://github.com/tinygrad/tinygrad/issues/4206). Kernels then read halves with vload_half. */
    caps->has_fp16 = info->has_fp16;
    caps->has_integer_dot = info->has_integer_dot;

    /* Quirks. */
    const bool is_pocl = strcmp(info->platform_name, CLFI_POCL_PLATFORM) == 0;
    const bool is_nvidia = strstr(info->vendor, "NVIDIA") != NULL;
    caps->prints_warnings = is_pocl || is_nvidia;
    caps->serial_compiler = is_pocl || strcmp(info->platform_name, "Oclgrind") == 0;
    caps->mixes_grids = is_pocl && caps->is_cpu && atoi(info->driver_version) < 6;
    caps->has_assembly = !is_pocl || pocl_takes_assembly(info->driver_version);
    caps->has_byte_dot = is_pocl && caps->has_assembly && caps->is_cpu && clfi_processor_has_byte_dot(caps->vector_width);
    caps->narrow_byte_dot = caps->has_byte_dot && caps->vector_width == 8;
    caps->small_units = !caps->is_cpu && strstr(info->vendor, "Intel") != NULL;
    /* Intel's compiler only half fills instructions for halves. RDNA3 begins two float instructions at once, but only one instruction for
     * pairs of halves. */
    caps->slow_halves = caps->small_units || strstr(info->name, "gfx11") || strstr(info->name, "navi3");
    caps->unit_lanes = is_nvidia || strstr(info->vendor, "Advanced Micro Devices") ? WIDE_UNIT_LANES : NARROW_UNIT_LANES;
    caps->many_registers = is_nvidia;
    caps->has_ptx = strcmp(info->platform_name, "NVIDIA CUDA") == 0;
    const bool is_intel = strcmp(info->platform_name, "Intel(R) OpenCL") == 0;
    caps->uses_host_memory = (is_pocl || is_intel) && caps->is_cpu && caps->unified_memory;
    if (caps->uses_host_memory && caps->has_assembly && caps->vector_width == 16)
        caps->matrix_unit = processor_unit(is_pocl);
    if (caps->uses_host_memory && sizeof(void *) == 8) {
        caps->graph_groups = caps->compute_units;
        caps->graph_group = 1;
        caps->graph_rows = INT_MAX;
    } else if (is_nvidia && !caps->is_cpu && (caps->has_ptx || is_pocl) && sizeof(void *) == 8) {
        caps->graph_groups = GRAPH_GROUPS_PER_UNIT * caps->compute_units;
        caps->graph_group = GRAPH_GROUP;
        caps->graph_rows = GRAPH_ROWS;
    }
    device->is_software_rasterizer = strstr(info->name, "llvmpipe") || strstr(info->name, "softpipe");
    if (device->is_software_rasterizer) {
        caps->is_cpu = false; /* the CPU family's unrolled kernels are what its compiler is slow at */
        caps->slow_compiler = true;
        caps->blocks_signals = true;
        caps->short_loops = true;
    }
}

/* Queries the numbers that kernels and the choice of engines depend on. A device whose driver fails here is not used. */
static void query_numbers(survey *s, clf_device_info *info)
{
    cl_device_type type = 0;
    cl_uint units = 0, clock_mhz = 0, alignment_bits = 0, width = 0;
    cl_ulong global_bytes = 0, allocation_bytes = 0, local_bytes = 0;
    cl_bool is_unified = CL_FALSE;
    size_t group_size = 0;
    info->type = QUERY(s, CL_DEVICE_TYPE, type) ? device_type(type) : CLF_DEVICE_TYPE_OTHER;
    info->compute_units = QUERY(s, CL_DEVICE_MAX_COMPUTE_UNITS, units) ? units : 0;
    info->clock_mhz = QUERY(s, CL_DEVICE_MAX_CLOCK_FREQUENCY, clock_mhz) ? clock_mhz : 0;
    info->global_memory_bytes = QUERY(s, CL_DEVICE_GLOBAL_MEM_SIZE, global_bytes) ? global_bytes : 0;
    info->max_allocation_bytes = QUERY(s, CL_DEVICE_MAX_MEM_ALLOC_SIZE, allocation_bytes) ? allocation_bytes : 0;
    info->local_memory_bytes = QUERY(s, CL_DEVICE_LOCAL_MEM_SIZE, local_bytes) ? local_bytes : 0;
    info->base_alignment_bytes = QUERY(s, CL_DEVICE_MEM_BASE_ADDR_ALIGN, alignment_bits) ? alignment_bits / 8 : 0;
    if (info->base_alignment_bytes == 0)
        info->base_alignment_bytes = 128;
    info->max_work_group_size = QUERY(s, CL_DEVICE_MAX_WORK_GROUP_SIZE, group_size) ? group_size : 0;
    info->native_vector_width_float = QUERY(s, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, width) ? width : 0;
    const cl_int code = clGetDeviceInfo(s->id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof is_unified, &is_unified, NULL);
    if (code != CL_INVALID_VALUE) /* OpenCL 2.0 deprecated the query, and newer drivers may not know it */
        note(s, code, "clGetDeviceInfo of CL_DEVICE_HOST_UNIFIED_MEMORY");
    info->unified_memory = (code == CL_SUCCESS && is_unified) || info->type == CLF_DEVICE_TYPE_CPU;
    info->same_hardware_as = -1;
}

clf_status clfi_platform_name(cl_platform_id platform, cl_int *out_code, char **out)
{
    size_t size = 0;
    char *text;
    *out_code = clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, NULL, &size);
    CLF_TRY(clfi_alloc(size + 1, 1, "platform name", &text));
    if (*out_code == CL_SUCCESS)
        *out_code = clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, text, NULL);
    if (*out_code != CL_SUCCESS)
        text[0] = '\0';
    clean(text);
    *out = text;
    return CLF_OK;
}

static clf_status query_texts(survey *s, clf_device *device)
{
    static const struct {
        cl_device_info what;
        const char *name;
        size_t offset;
    } texts[] = {
#define TEXT(what, member) {what, "clGetDeviceInfo of " #what, offsetof(clf_device_info, member)}
        TEXT(CL_DEVICE_NAME, name),
        TEXT(CL_DEVICE_VENDOR, vendor),
        TEXT(CL_DRIVER_VERSION, driver_version),
        TEXT(CL_DEVICE_VERSION, device_version),
        TEXT(CL_DEVICE_OPENCL_C_VERSION, opencl_c_version),
#undef TEXT
    };
    char *text;
    for (size_t i = 0; i < COUNT(texts); i++) {
        CLF_TRY(device_text(s, texts[i].what, texts[i].name, &text));
        memcpy((char *)&device->info + texts[i].offset, &text, sizeof text);
    }
    cl_int code;
    CLF_TRY(clfi_platform_name(device->platform, &code, &text));
    note(s, code, "clGetPlatformInfo of CL_PLATFORM_NAME");
    device->info.platform_name = text;
    return query_extensions(s, device);
}

/* Sets info.usable, info.reason and is_unknown. */
static clf_status judge(survey *s, clf_device *device)
{
    clf_str reason = CLF_STR_INIT;
    clf_status st = clfi_str_append_text(&reason, refusal(s, device));
    if (st == CLF_OK && s->failed)
        st = clfi_str_appendf(&reason, ": %s (%d)", clfi_cl_name(s->code), s->code);
    if (st != CLF_OK) {
        clfi_str_free(&reason);
        return st;
    }
    device->info.usable = reason.length == 0;
    device->is_unknown = s->failed != NULL;
    if (device->info.usable) {
        clfi_str_free(&reason);
        return clfi_strdup("", (char **)&device->info.reason);
    }
    device->info.reason = reason.data;
    return CLF_OK;
}

clf_status clfi_device_query(cl_platform_id platform, cl_device_id id, clf_device *out)
{
    clf_device device = {.platform = platform, .id = id};
    survey s = {.id = id};
    query_numbers(&s, &device.info);
    clf_status st = query_texts(&s, &device);
    if (st == CLF_OK)
        st = judge(&s, &device);
    if (st != CLF_OK) {
        clfi_device_clear(&device);
        return st;
    }
    device.info.default_reason = "";
    set_caps(&device);
    *out = device;
    return CLF_OK;
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
    free((char *)info->reason);
    memset(device, 0, sizeof *device);
}

clf_status clfi_device_copy(const clf_device *from, clf_device *out)
{
    clf_device copy = *from;
    const char **texts[] = {&copy.info.name,           &copy.info.vendor,           &copy.info.driver_version,
                            &copy.info.device_version, &copy.info.opencl_c_version, &copy.info.platform_name,
                            &copy.info.reason};
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
