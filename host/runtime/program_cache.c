/* SPDX-License-Identifier: MIT */
/* Compiled programs on disk. */
#include "runtime/program_cache.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"

enum { MAX_BINARY_BYTES = 256 << 20, HASH_DIGITS = CLFI_HASH_TEXT_BYTES - 1, MAGIC_BYTES = 8, HEADER_BYTES = MAGIC_BYTES + HASH_DIGITS };

static const char magic[MAGIC_BYTES + 1] = "CLFPROG1";

bool clfi_program_cache_prepare(clf_context *context, const char *directory)
{
    struct stat info;
    if (clfi_make_directories(directory) != CLF_OK) {
        clfi_log(context, CLF_LOG_INFO, "no program cache: %s", clf_last_error());
        return false;
    }
    if (stat(directory, &info) != 0 || info.st_uid != geteuid() || (info.st_mode & 022) != 0) {
        clfi_log(context, CLF_LOG_INFO, "no program cache: %s belongs to or can be written by another user", directory);
        return false;
    }
    return true;
}

clf_status clfi_program_cache_path(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source, char **out)
{
    *out = NULL;
    if (!context->cache_dir)
        return CLF_OK;
    const clf_device_info *info = &context->device.info;
    clf_str key = CLF_STR_INIT;
    char hash[CLFI_HASH_TEXT_BYTES];
    clf_status st = clfi_str_appendf(&key, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n", magic, info->platform_name, info->name, info->device_version,
                                     info->driver_version, spec->kernel, spec->options);
    if (st == CLF_OK)
        st = clfi_str_append(&key, clfi_str_text(source), source->length);
    if (st == CLF_OK) {
        clfi_hash(key.data, key.length, hash);
        clfi_str_clear(&key);
        st = clfi_str_appendf(&key, "%s/%s-%s.bin", context->cache_dir, spec->kernel, hash);
    }
    if (st != CLF_OK) {
        clfi_str_free(&key);
        return st;
    }
    *out = key.data;
    return CLF_OK;
}

static cl_program create_from_binary(clf_context *context, const unsigned char *binary, size_t size)
{
    cl_int status = CL_SUCCESS, code = CL_SUCCESS;
    cl_program program = clCreateProgramWithBinary(context->opencl, 1, &context->device.id, &size, &binary, &status, &code);
    if (code == CL_SUCCESS && status == CL_SUCCESS && clBuildProgram(program, 1, &context->device.id, "", NULL, NULL) == CL_SUCCESS)
        return program;
    if (program)
        clReleaseProgram(program);
    return NULL;
}

cl_program clfi_program_cache_load(clf_context *context, const char *path)
{
    if (!path || !clfi_file_exists(path))
        return NULL;
    clf_str file = CLF_STR_INIT;
    cl_program program = NULL;
    char hash[CLFI_HASH_TEXT_BYTES];
    const uint64_t start = clfi_now_ns();
    if (clfi_file_read(path, MAX_BINARY_BYTES, &file) == CLF_OK && file.length > HEADER_BYTES &&
        memcmp(file.data, magic, MAGIC_BYTES) == 0) {
        clfi_hash(file.data + HEADER_BYTES, file.length - HEADER_BYTES, hash);
        if (memcmp(file.data + MAGIC_BYTES, hash, HASH_DIGITS) == 0)
            program = create_from_binary(context, (const unsigned char *)file.data + HEADER_BYTES, file.length - HEADER_BYTES);
    }
    clfi_str_free(&file);
    if (program) {
        context->stats.programs_from_cache++;
        context->stats.cache_load_ns += clfi_now_ns() - start;
    } else {
        clfi_log(context, CLF_LOG_INFO, "program cache: %s is not usable, building from source", path);
    }
    return program;
}

void clfi_program_cache_store(clf_context *context, cl_program program, const char *path)
{
    size_t size = 0;
    char hash[CLFI_HASH_TEXT_BYTES];
    clf_atomic_file file;
    unsigned char *binary = NULL;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS || size == 0 ||
        size > MAX_BINARY_BYTES || clfi_alloc(size, 1, "program binary", &binary) != CLF_OK)
        return;
    clf_status st = clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS
                        ? clfi_atomic_open(path, &file)
                        : clfi_fail(CLF_DEVICE, "the driver gives no binary");
    if (st == CLF_OK) {
        clfi_hash(binary, size, hash);
        fwrite(magic, 1, MAGIC_BYTES, file.stream);
        fwrite(hash, 1, HASH_DIGITS, file.stream);
        fwrite(binary, 1, size, file.stream);
        st = clfi_atomic_commit(&file);
    }
    if (st != CLF_OK)
        clfi_log(context, CLF_LOG_INFO, "program cache: %s", clf_last_error());
    free(binary);
}
