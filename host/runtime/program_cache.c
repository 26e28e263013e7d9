/* SPDX-License-Identifier: MIT */
/* Compiled programs on disk. */
#include "runtime/program_cache.h"

#include <string.h>

#include "base/alloc.h"
#include "runtime/shared.h"

enum {
    MAX_BINARY_BYTES = 256 << 20,
    HASH_DIGITS = CLFI_HASH_TEXT_BYTES - 1,
    HASH_AT = 8, /* behind the magic bytes */
    KEY_AT = HASH_AT + HASH_DIGITS,
    BINARY_AT = KEY_AT + HASH_DIGITS
};

static const char magic[HASH_AT + 1] = "CLFPROG2";

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
    clf_status st = clfi_str_appendf(&key, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n", magic, info->platform_name, info->name, info->device_version,
                                     info->driver_version, spec->kernel, spec->options);
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

/* Whether the file is whole and this program's. */
static bool is_sound(const clf_str *file, const char *key)
{
    char hash[CLFI_HASH_TEXT_BYTES];
    if (file->length <= BINARY_AT || memcmp(file->data, magic, HASH_AT) != 0)
        return false;
    clfi_hash(file->data + KEY_AT, file->length - KEY_AT, hash);
    return memcmp(file->data + HASH_AT, hash, HASH_DIGITS) == 0 && memcmp(file->data + KEY_AT, key, HASH_DIGITS) == 0;
}

cl_program clfi_program_cache_load(const clf_context *context, const char *kernel, const char *key)
{
    clf_str name = CLF_STR_INIT, file = CLF_STR_INIT;
    cl_program program = NULL;
    if (!context->shared->cache)
        return NULL;
    clf_status st = file_name(kernel, key, &name);
    if (st == CLF_OK)
        st = clfi_private_directory_read(context->shared->cache, name.data, MAX_BINARY_BYTES, &file);
    if (st == CLF_OK && is_sound(&file, key))
        program = create_from_binary(context, (const unsigned char *)file.data + BINARY_AT, file.length - BINARY_AT);
    if (st == CLF_OK && !program)
        clfi_log(context, CLF_LOG_INFO, "program cache: %s is not usable, building from source", name.data);
    else if (st != CLF_OK && st != CLF_NOT_FOUND)
        clfi_log(context, CLF_LOG_INFO, "program cache: %s; building from source", clf_last_error());
    clfi_str_free(&file);
    clfi_str_free(&name);
    return program;
}

/* The file's text from the program's one binary. */
static clf_status get_file(cl_program program, const char *key, clf_str *out)
{
    size_t size = 0;
    char hash[CLFI_HASH_TEXT_BYTES];
    unsigned char *binary = NULL;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS || size == 0 || size > MAX_BINARY_BYTES)
        CLF_FAIL(CLF_DEVICE, "the driver gives no binary");
    CLF_TRY(clfi_alloc(size, 1, "program binary", &binary));
    clf_status st = clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS
                        ? clfi_str_appendf(out, "%s%0*d%s", magic, HASH_DIGITS, 0, key)
                        : clfi_fail(CLF_DEVICE, "the driver gives no binary");
    if (st == CLF_OK)
        st = clfi_str_append(out, binary, size);
    free(binary);
    CLF_TRY(st);
    clfi_hash(out->data + KEY_AT, out->length - KEY_AT, hash);
    memcpy(out->data + HASH_AT, hash, HASH_DIGITS);
    return CLF_OK;
}

void clfi_program_cache_store(const clf_context *context, cl_program program, const char *kernel, const char *key)
{
    clf_str name = CLF_STR_INIT, file = CLF_STR_INIT;
    clf_status st = file_name(kernel, key, &name);
    if (st == CLF_OK)
        st = get_file(program, key, &file);
    if (st == CLF_OK)
        st = clfi_private_directory_write(context->shared->cache, name.data, file.data, file.length);
    if (st != CLF_OK)
        clfi_log(context, CLF_LOG_INFO, "program cache: %s", clf_last_error());
    clfi_str_free(&file);
    clfi_str_free(&name);
}
