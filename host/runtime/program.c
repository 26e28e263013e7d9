/* SPDX-License-Identifier: MIT */
/* Built kernels of a context: hash table over specifications; building from source or from the disk cache. */
#include "runtime/program.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/str.h"
#include "runtime/kernel_dump.h"
#include "runtime/kernel_source.h"
#include "runtime/program_cache.h"

struct clf_program_table {
    clf_kernel **kernels; /* in order of building */
    size_t count, capacity;
    size_t unsaved;
};

clf_kernel_spec clfi_kernel_spec(const char *file, const char *kernel)
{
    clf_kernel_spec spec;
    spec.file = file;
    spec.kernel = kernel;
    spec.options[0] = '\0';
    spec.length = 0;
    spec.hash = UINT64_C(0xcbf29ce484222325);
    spec.overflow = false;
    return spec;
}

/* Appends bytes to the options and to their hash (FNV-1a). Every launch comes through here, so nothing is formatted twice. */
static void append(clf_kernel_spec *spec, const char *text, size_t size)
{
    if (size >= sizeof spec->options - spec->length) {
        spec->overflow = true;
        return;
    }
    memcpy(spec->options + spec->length, text, size);
    spec->length += size;
    spec->options[spec->length] = '\0';
    for (size_t i = 0; i < size; i++)
        spec->hash = (spec->hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
}

void clfi_spec_int(clf_kernel_spec *spec, const char *macro, long long value)
{
    char digits[24], *at = digits + sizeof digits;
    unsigned long long rest = value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value;
    *--at = '\0';
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--at = '-';
    clfi_spec_text(spec, macro, at);
}

void clfi_spec_text(clf_kernel_spec *spec, const char *macro, const char *value)
{
    append(spec, " -D", 3);
    append(spec, macro, strlen(macro));
    append(spec, "=", 1);
    append(spec, value, strlen(value));
}

clf_status clfi_program_table_create(clf_program_table **out)
{
    return clfi_alloc(1, sizeof **out, "program table", out);
}

static void kernel_destroy(clf_kernel *kernel)
{
    if (kernel->handle)
        clReleaseKernel(kernel->handle);
    if (kernel->program)
        clReleaseProgram(kernel->program);
    free(kernel->name);
    free(kernel->options);
    free(kernel->path);
    free(kernel);
}

void clfi_program_table_destroy(clf_program_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++)
        kernel_destroy(table->kernels[i]);
    free(table->kernels);
    free(table);
}

/* The compiler's first messages on one line. */
static clf_status fail_build(clf_context *context, cl_program program, const clf_kernel_spec *spec, cl_int code)
{
    char log[512] = "", *full = NULL;
    size_t size = 0;
    clGetProgramBuildInfo(program, context->device.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    if (size && clfi_alloc(size + 1, 1, "build log", &full) == CLF_OK) {
        clGetProgramBuildInfo(program, context->device.id, CL_PROGRAM_BUILD_LOG, size, full, NULL);
        clfi_log(context, CLF_LOG_DEBUG, "build log of %s: %s", spec->kernel, full);
        const char *error = strstr(full, "error");
        while (error && error > full && error[-1] != '\n')
            error--;
        snprintf(log, sizeof log, "%s", error ? error : full);
        for (char *c = log; *c; c++)
            if (*c == '\n' || *c == '\t')
                *c = ' ';
        free(full);
    }
    CLF_FAIL(CLF_BUILD, "kernel %s (%s,%s): %s (%d): %s", spec->kernel, spec->file, spec->options, clfi_cl_name(code), code, log);
}

static clf_status build_from_source(clf_context *context, const clf_kernel_spec *spec, const clf_str *source, cl_program *out)
{
    cl_int code = CL_SUCCESS;
    const char *text = clfi_str_text(source);
    const uint64_t start = clfi_now_ns();
    cl_program program = clCreateProgramWithSource(context->opencl, 1, &text, &source->length, &code);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "create program %s: %s (%d)", spec->file, clfi_cl_name(code), code);
    code = clBuildProgram(program, 1, &context->device.id, spec->options, NULL, NULL);
    if (code != CL_SUCCESS) {
        const clf_status st = fail_build(context, program, spec, code);
        clReleaseProgram(program);
        return st;
    }
    context->stats.build_ns += clfi_now_ns() - start;
    context->stats.programs_built++;
    clfi_log(context, CLF_LOG_DEBUG, "built %s%s in %.1f ms", spec->kernel, spec->options, (double)(clfi_now_ns() - start) / 1e6);
    *out = program;
    return CLF_OK;
}

static clf_status build(clf_context *context, const clf_kernel_spec *spec, clf_kernel *kernel)
{
    clf_str source = CLF_STR_INIT;
    cl_int code = CL_SUCCESS;
    clf_status st = clfi_kernel_source(context->kernel_dir, spec->file, &source);
    if (st == CLF_OK && context->kernel_dump)
        st = clfi_kernel_dump(context->kernel_dump, spec, &source);
    if (st == CLF_OK)
        st = clfi_program_cache_path(context, spec, &source, &kernel->path);
    if (st == CLF_OK) {
        kernel->program = clfi_program_cache_load(context, kernel->path);
        if (kernel->program) { /* nothing left to save */
            free(kernel->path);
            kernel->path = NULL;
        } else {
            st = build_from_source(context, spec, &source, &kernel->program);
        }
    }
    clfi_str_free(&source);
    CLF_TRY(st);
    kernel->handle = clCreateKernel(kernel->program, spec->kernel, &code);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_BUILD, "kernel %s of %s: %s (%d)", spec->kernel, spec->file, clfi_cl_name(code), code);
    code = clGetKernelInfo(kernel->handle, CL_KERNEL_NUM_ARGS, sizeof kernel->argument_count, &kernel->argument_count, NULL);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "kernel %s: %s (%d)", spec->kernel, clfi_cl_name(code), code);
    return CLF_OK;
}

clf_status clfi_kernel_get(clf_context *context, const clf_kernel_spec *spec, clf_kernel **out)
{
    clf_program_table *table = context->programs;
    if (spec->overflow)
        CLF_FAIL(CLF_INTERNAL, "kernel %s: options longer than %d bytes", spec->kernel, CLFI_SPEC_BYTES);
    for (size_t i = 0; i < table->count; i++) { /* some tens of kernels: scanning hashes costs little */
        clf_kernel *known = table->kernels[i];
        if (known->hash == spec->hash && strcmp(known->options, spec->options) == 0 && strcmp(known->name, spec->kernel) == 0) {
            *out = known;
            return CLF_OK;
        }
    }
    clf_kernel *kernel = NULL;
    CLF_TRY(clfi_alloc(1, sizeof *kernel, "kernel", &kernel));
    kernel->hash = spec->hash;
    clf_status st = clfi_strdup(spec->kernel, &kernel->name);
    if (st == CLF_OK)
        st = clfi_strdup(spec->options, &kernel->options);
    if (st == CLF_OK)
        st = build(context, spec, kernel);
    if (st == CLF_OK)
        st = clfi_grow(&table->kernels, &table->capacity, table->count + 1, sizeof *table->kernels, "program table");
    if (st != CLF_OK) {
        kernel_destroy(kernel);
        return st;
    }
    table->unsaved += kernel->path != NULL;
    table->kernels[table->count++] = kernel;
    *out = kernel;
    return CLF_OK;
}

void clfi_program_table_save(clf_context *context)
{
    clf_program_table *table = context->programs;
    for (size_t i = 0; table->unsaved > 0 && i < table->count; i++) {
        clf_kernel *kernel = table->kernels[i];
        if (!kernel->path || !kernel->was_launched)
            continue;
        clfi_program_cache_store(context, kernel->program, kernel->path);
        free(kernel->path);
        kernel->path = NULL;
        table->unsaved--;
    }
}
