/* SPDX-License-Identifier: MIT */
/* Reads and writes compiled programs on disk. */
#include "runtime/program_cache.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "runtime/cache_file.h"
#include "runtime/shared.h"

enum { MAX_BINARY_BYTES = 256 << 20 };

void clfi_program_cache_open(clf_context *context, const char *directory)
{
    if (clfi_private_directory_open(directory, &context->shared->cache) != CLF_OK)
        clfi_log(context, CLF_LOG_INFO, "no program cache: %s", clf_last_error());
}

clf_status clfi_program_cache_key(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source,
                                  char out[CLFI_HASH_TEXT_BYTES])
{
    const clf_device_info *info = &context->device.info;
    clf_str key = CLF_STR_INIT;
    clf_status st = clfi_str_appendf(&key, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n", clfi_cache_mark, info->platform_name, info->name,
                                     info->device_version, info->driver_version, spec->kernel, spec->options);
    if (st == CLF_OK)
        st = clfi_str_append(&key, clfi_str_text(source), source->length);
    if (st == CLF_OK)
        clfi_hash(key.data, key.length, out);
    clfi_str_free(&key);
    return st;
}

static clf_status file_name(const char *kernel, const char *key, clf_str *out)
{
    return clfi_str_appendf(out, "%s-%s.bin", kernel, key);
}

static cl_program create_from_binary(const clf_context *context, const unsigned char *binary, size_t size)
{
    cl_int status = CL_SUCCESS, code = CL_SUCCESS;
    cl_program program = clCreateProgramWithBinary(context->opencl, 1, &context->device.id, &size, &binary, &status, &code);
    if (code == CL_SUCCESS && status == CL_SUCCESS && clBuildProgram(program, 1, &context->device.id, "", NULL, NULL) == CL_SUCCESS)
        return program;
    if (program)
        clReleaseProgram(program);
    return NULL;
}

cl_program clfi_program_cache_load(const clf_context *context, const char *kernel, const char *key)
{
    clf_str name = CLF_STR_INIT, file = CLF_STR_INIT;
    cl_program program = NULL;
    if (!context->shared->cache)
        return NULL;
    clf_status st = file_name(kernel, key, &name);
    if (st == CLF_OK)
        st = clfi_cache_file_read(context->shared->cache, name.data, key, MAX_BINARY_BYTES, &file);
    if (st == CLF_OK)
        program =
            create_from_binary(context, (const unsigned char *)file.data + CLFI_CACHE_CONTENT_AT, file.length - CLFI_CACHE_CONTENT_AT);
    if (st == CLF_OK && !program)
        clfi_log(context, CLF_LOG_INFO, "program cache: %s is not usable, building from source", name.data);
    else if (st != CLF_OK && st != CLF_NOT_FOUND)
        clfi_log(context, CLF_LOG_INFO, "program cache: %s; building from source", clf_last_error());
    clfi_str_free(&file);
    clfi_str_free(&name);
    return program;
}

/* Gets the program's binary; the caller frees it. */
static clf_status get_binary(cl_program program, unsigned char **out, size_t *out_size)
{
    size_t size = 0;
    unsigned char *binary = NULL;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS || size == 0 || size > MAX_BINARY_BYTES)
        CLF_FAIL(CLF_DEVICE, "the driver gives no binary");
    CLF_TRY(clfi_alloc(size, 1, "program binary", &binary));
    if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) != CL_SUCCESS) {
        free(binary);
        CLF_FAIL(CLF_DEVICE, "the driver gives no binary");
    }
    *out = binary;
    *out_size = size;
    return CLF_OK;
}

clf_status clfi_program_cache_write(const clf_context *context, cl_program program, const char *kernel, const char *key)
{
    clf_str name = CLF_STR_INIT;
    unsigned char *binary = NULL;
    size_t size = 0;
    clf_status st = file_name(kernel, key, &name);
    if (st == CLF_OK)
        st = get_binary(program, &binary, &size);
    if (st == CLF_OK)
        st = clfi_cache_file_write(context->shared->cache, name.data, key, binary, size);
    free(binary);
    clfi_str_free(&name);
    return st;
}

void clfi_program_cache_store(const clf_context *context, cl_program program, const char *kernel, const char *key)
{
    if (clfi_program_cache_write(context, program, kernel, key) != CLF_OK)
        clfi_log(context, CLF_LOG_INFO, "program cache: %s", clf_last_error());
}
