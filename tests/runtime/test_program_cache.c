/* SPDX-License-Identifier: MIT */
/* The cache of compiled programs: what is used from it, and every way in which a file, the directory or its parents are not. */
#include "runtime/program_cache.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/private_directory.h"
#include "runtime/program.h"
#include "runtime/shared.h"
#include "clformer/softmax.h"
#include "clformer/tensor.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

enum { HEADER = 8 + 32 + 32 };

static char root[TEMP_PATH_BYTES], cache[TEMP_PATH_BYTES], programs[TEMP_PATH_BYTES];

static clf_context *open_context(void)
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context;
    params.cache_dir = cache;
    CHECK_OK(clf_context_create(&params, &context));
    return context;
}

/* Softmax of rows of `keys` columns in a context of its own: its result, and what was built and loaded for it. */
static clf_context_stats run(int64_t keys, clf_dtype dtype)
{
    clf_context *context = open_context();
    clf_context_stats stats;
    clf_tensor *x;
    float values[64] = {0}, got[64];
    CHECK_OK(clf_tensor_create(context, dtype, 1, &keys, &x));
    CHECK_OK(clf_tensor_write_f32(x, values, (size_t)keys));
    CHECK_OK(clf_softmax(context, x, NULL, x));
    CHECK_OK(clf_tensor_read_f32(x, got, (size_t)keys));
    for (int64_t i = 0; i < keys; i++)
        CHECK(within(got[i], 1.0 / (double)keys, 1e-3), "%g", got[i]);
    clf_context_get_stats(context, &stats);
    clf_tensor_destroy(x);
    clf_context_destroy(context);
    return stats;
}

static void check_run(uint64_t built, uint64_t loaded, const char *when)
{
    const clf_context_stats stats = run(16, CLF_F32);
    CHECK(stats.programs_built == built && stats.programs_from_cache == loaded, "%s: %llu built, %llu from the cache", when,
          (unsigned long long)stats.programs_built, (unsigned long long)stats.programs_from_cache);
}

/* The files of the cache by name; the test makes two. */
static size_t list(char names[4][256])
{
    size_t count = 0;
    DIR *directory = opendir(programs);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.' && count < 4)
            snprintf(names[count++], 256, "%s", entry->d_name);
    closedir(directory);
    return count;
}

static void file_of(const char *name, clf_str *out)
{
    char path[TEMP_PATH_BYTES];
    clfi_str_clear(out);
    CHECK_OK(clfi_file_read(temp_path(programs, name, path), 1 << 28, out));
}

static void put(const char *name, const void *data, size_t size)
{
    char path[TEMP_PATH_BYTES];
    unlink(temp_path(programs, name, path));
    temp_file(programs, name, data, size, path);
    assert_int_equal(chmod(path, 0600), 0);
}

static void make_sound(clf_str *file)
{
    char hash[CLFI_HASH_TEXT_BYTES];
    clfi_hash(file->data + 8 + 32, file->length - 8 - 32, hash);
    memcpy(file->data + 8, hash, 32);
}

static void test_files(void **state)
{
    char names[4][256], path[TEMP_PATH_BYTES], elsewhere[TEMP_PATH_BYTES];
    clf_str good = CLF_STR_INIT, bad = CLF_STR_INIT;
    struct stat info;
    check_run(1, 0, "first");
    check_run(0, 1, "second");
    assert_int_equal(list(names), 1);
    const char *name = names[0];
    assert_true(stat(temp_path(programs, name, path), &info) == 0 && (info.st_mode & 07777) == 0600);
    assert_true(stat(programs, &info) == 0 && (info.st_mode & 07777) == 0700);
    file_of(name, &good);
    assert_true(good.length > HEADER && strncmp(good.data, "CLFPROG2", 8) == 0);
    assert_non_null(strstr(name, "softmax"));
    assert_memory_equal(good.data + 8 + 32, strchr(name, '-') + 1, 32);

    /* Files of wrong content: each is built again, and stored. */
    static const size_t lengths[] = {0, 7, 8, HEADER - 1, HEADER, HEADER + 1};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        put(name, good.data, lengths[i]);
        check_run(1, 0, "cut");
    }
    static const size_t flips[] = {0, 8, 8 + 32, HEADER, HEADER + 100};
    for (size_t i = 0; i < COUNT(flips); i++) {
        clfi_str_clear(&bad);
        CHECK_OK(clfi_str_append(&bad, good.data, good.length));
        bad.data[flips[i]] ^= 1;
        put(name, bad.data, bad.length);
        check_run(1, 0, "one bit");
        check_run(0, 1, "after one bit");
    }
    clfi_str_clear(&bad); /* whole by its hash, but another program's */
    CHECK_OK(clfi_str_append(&bad, good.data, good.length));
    bad.data[8 + 32] = bad.data[8 + 32] == '0' ? '1' : '0';
    make_sound(&bad);
    put(name, bad.data, bad.length);
    check_run(1, 0, "another key");
    if (strcmp(clf_context_device(*state)->platform_name, "rusticl") != 0) { /* it ends the process over a binary that is none */
        clfi_str_clear(&bad);                                                /* whole by its hash and key, but no binary */
        CHECK_OK(clfi_str_append(&bad, good.data, HEADER));
        CHECK_OK(clfi_str_append_text(&bad, "no binary of any driver"));
        make_sound(&bad);
        put(name, bad.data, bad.length);
        check_run(1, 0, "no binary");
        check_run(0, 1, "after no binary");
    }

    /* Things that are no file of this user's alone. */
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0); /* cannot be read, nor replaced by a file */
    check_run(1, 0, "directory");
    check_run(1, 0, "directory again");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(60);
    check_run(1, 0, "pipe");
    alarm(0);
    check_run(0, 1, "after the pipe");
    unlink(path);
    put("copy", good.data, good.length);
    assert_int_equal(symlink("copy", path), 0);
    check_run(1, 0, "link");
    check_run(0, 1, "after the link");
    unlink(temp_path(programs, "copy", elsewhere));
    assert_int_equal(chmod(path, 0666), 0);
    check_run(1, 0, "others may write the file");
    check_run(0, 1, "after that");
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 0), 0);
        check_run(1, 0, "another user's file");
        check_run(0, 1, "after that");
    }
    assert_int_equal(temp_directory_entries(programs), 1);
    clfi_str_free(&good);
    clfi_str_free(&bad);
}

/* The binary of a program with a kernel that nobody asks for. */
static void other_binary(const clf_context *context, clf_str *out)
{
    static const char *const text = "__kernel void nobody_asks_for(__global float *x) { x[get_global_id(0)] = 1.0f; }";
    cl_int code;
    size_t size = 0;
    unsigned char *binary;
    cl_program program = clCreateProgramWithSource(context->opencl, 1, (const char **)&text, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 1, &context->device.id, "", NULL, NULL), CL_SUCCESS);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), CL_SUCCESS);
    binary = malloc(size);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL), CL_SUCCESS);
    CHECK_OK(clfi_str_append(out, binary, size));
    free(binary);
    clReleaseProgram(program);
}

/* Two files exchanged; then one that is sound in all but that its program lacks the kernel. */
static void test_wrong_programs(void **state)
{
    char names[4][256];
    clf_str a = CLF_STR_INIT, b = CLF_STR_INIT, forged = CLF_STR_INIT;
    assert_int_equal(list(names), 1);
    assert_int_equal(run(16, CLF_F16).programs_built, 1);
    assert_int_equal(list(names), 2);
    file_of(names[0], &a);
    file_of(names[1], &b);
    put(names[0], b.data, b.length);
    put(names[1], a.data, a.length);
    check_run(1, 0, "exchanged");
    assert_int_equal(run(16, CLF_F16).programs_built, 1);
    check_run(0, 1, "after the exchange");
    for (int i = 0; i < 2; i++) {
        file_of(names[i], &a);
        clfi_str_clear(&forged);
        CHECK_OK(clfi_str_append(&forged, a.data, HEADER));
        other_binary(*state, &forged);
        make_sound(&forged);
        put(names[i], forged.data, forged.length);
    }
    check_run(1, 0, "without the kernel");
    check_run(0, 1, "after that");
    clfi_str_free(&a);
    clfi_str_free(&b);
    clfi_str_free(&forged);
}

/* The directory is opened once: what its path leads to afterwards is nobody's business. */
/* Whatever makes another program makes another key. */
static void test_keys(void **state)
{
    (void)state;
    clf_context *context = open_context();
    clf_device_info *info = &context->device.info;
    const clf_device_info device = *info;
    clf_kernel_spec spec = clfi_kernel_spec("softmax_generic.cl", "softmax");
    const clf_kernel_spec first = spec;
    clf_str source = CLF_STR_INIT;
    char known[CLFI_HASH_TEXT_BYTES], other[CLFI_HASH_TEXT_BYTES];
    CHECK_OK(clfi_str_append(&source, "text", 4));
    CHECK_OK(clfi_program_cache_key(context, &spec, &source, known));
    CHECK_OK(clfi_program_cache_key(context, &spec, &source, other));
    assert_string_equal(known, other);
#define DIFFERS(change, back)                                               \
    do {                                                                    \
        change;                                                             \
        CHECK_OK(clfi_program_cache_key(context, &spec, &source, other));   \
        CHECK(strcmp(known, other) != 0, "the key does not hold " #change); \
        back;                                                               \
    } while (0)
    DIFFERS(info->platform_name = "another", *info = device);
    DIFFERS(info->name = "another", *info = device);
    DIFFERS(info->device_version = "another", *info = device);
    DIFFERS(info->driver_version = "another", *info = device);
    DIFFERS(spec = clfi_kernel_spec("softmax_generic.cl", "another"), spec = first);
    DIFFERS(clfi_spec_int(&spec, "WG", 1), spec = first);
    DIFFERS(CHECK_OK(clfi_str_append(&source, "s", 1)), source.length--);
#undef DIFFERS
    clfi_str_free(&source);
    clf_context_destroy(context);
}

static void test_exchanged_directory(void **state)
{
    (void)state;
    char moved[TEMP_PATH_BYTES];
    clf_private_directory *directory;
    clf_str text = CLF_STR_INIT;
    CHECK_OK(clfi_private_directory_open(programs, &directory));
    CHECK_OK(clfi_private_directory_write(directory, "mine", "mine", 4));
    assert_int_equal(rename(programs, temp_path(cache, "moved", moved)), 0);
    assert_int_equal(mkdir(programs, 0700), 0);
    put("mine", "foreign", 7);
    CHECK_OK(clfi_private_directory_read(directory, "mine", 100, &text));
    assert_string_equal(clfi_str_text(&text), "mine");
    CHECK_FAILS(clfi_private_directory_read(directory, "mine", 3, &text), CLF_FORMAT, "larger than 3 bytes");
    CHECK_FAILS(clfi_private_directory_read(directory, "none", 3, &text), CLF_NOT_FOUND, "none");
    CHECK_OK(clfi_private_directory_write(directory, "later", "", 0));
    assert_int_equal(temp_directory_entries(programs), 1);
    clfi_private_directory_close(directory);
    clfi_private_directory_close(NULL);
    clfi_str_free(&text);
    temp_directory_remove(programs);
    assert_int_equal(rename(moved, programs), 0);
}

static void refuse(const char *path, const char *reason)
{
    clf_private_directory *directory;
    CHECK_FAILS(clfi_private_directory_open(path, &directory), CLF_IO, reason);
}

static void test_directories(void **state)
{
    (void)state;
    char parent[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES], link[TEMP_PATH_BYTES];
    clf_private_directory *directory;
    temp_path(root, "parent", parent);
    CHECK_OK(clfi_private_directory_open(temp_path(parent, "a/b", path), &directory));
    clfi_private_directory_close(directory);
    assert_int_equal(chmod(path, 0777), 0);
    refuse(path, "a/b can be written by other users");
    assert_int_equal(chmod(path, 0702), 0);
    refuse(path, "a/b can be written by other users");
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(chmod(parent, 0777), 0);
    refuse(path, "a/b/../.. can be written by other users");
    assert_int_equal(chmod(parent, 01777), 0);
    CHECK_OK(clfi_private_directory_open(path, &directory));
    clfi_private_directory_close(directory);
    assert_int_equal(symlink(path, temp_path(parent, "link", link)), 0);
    refuse(link, "link");
    temp_file(parent, "file", "", 0, link);
    refuse(link, "a file of this name exists");
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(path, 12345, 12345), 0);
    refuse(path, "a/b belongs to another user");
    assert_int_equal(chown(path, 0, 0), 0);
    assert_int_equal(chown(parent, 12345, 12345), 0);
    refuse(path, "a/b/../.. belongs to another user");
}

/* A cache that cannot be used costs time and nothing else. */
static void test_refused_directory(void **state)
{
    (void)state;
    assert_int_equal(chmod(programs, 0777), 0);
    check_run(1, 0, "refused");
    check_run(1, 0, "refused again");
    assert_int_equal(chmod(programs, 0700), 0);
    check_run(0, 1, "usable again");
    assert_int_equal(chmod(programs, 0500), 0); /* no file can be written, except by root */
    check_run(0, 1, "read only");
    assert_int_equal(chmod(programs, 0700), 0);
}

/* No room, and no directory any more: the old file stays whole, nothing half written is left, and the call that failed is named. */
static void test_failed_writes(void **state)
{
    (void)state;
    static char large[4096];
    char path[TEMP_PATH_BYTES];
    struct rlimit limit;
    clf_private_directory *directory;
    clf_str text = CLF_STR_INIT;
    CHECK_OK(clfi_private_directory_open(temp_path(root, "full", path), &directory));
    CHECK_OK(clfi_private_directory_write(directory, "old", "whole", 5));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 1024;
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const clf_status st = clfi_private_directory_write(directory, "old", large, sizeof large);
    limit.rlim_cur = before;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, handler);
    CHECK(st == CLF_IO && strstr(clf_last_error(), "File too large"), "a write beyond the limit: %s: %s", clf_status_text(st),
          clf_last_error());
    assert_int_equal(temp_directory_entries(path), 1);
    CHECK_OK(clfi_private_directory_read(directory, "old", 100, &text));
    assert_string_equal(clfi_str_text(&text), "whole");
    temp_directory_remove(path);
    CHECK_FAILS(clfi_private_directory_write(directory, "old", "new", 3), CLF_NOT_FOUND, "write old: No such file or directory");
    CHECK_FAILS(clfi_private_directory_read(directory, "old", 100, &text), CLF_NOT_FOUND, "old");
    clfi_private_directory_close(directory);
    clfi_str_free(&text);
}

/* The options of the program that a context with this build number makes, without a cache. */
static void built_options(uint64_t number, char out[512])
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context;
    clf_kernel *kernel;
    size_t size;
    params.cache_dir = "";
    CHECK_OK(clf_context_create(&params, &context));
    context->build_number = number;
    const clf_kernel_spec spec = clfi_kernel_spec("buffer_address.cl", "buffer_address");
    CHECK_OK(clfi_kernel_get(context, &spec, &kernel));
    assert_int_equal(clGetProgramBuildInfo(kernel->program->handle, context->device.id, CL_PROGRAM_BUILD_OPTIONS, 512, out, &size), 0);
    clf_context_destroy(context);
}

/* Programs of contexts with different numbers are different to whatever the driver keeps. */
static void test_build_number(void **state)
{
    (void)state;
    char none[512], first[512], second[512];
    built_options(0, none);
    built_options(41, first);
    built_options(42, second);
    assert_null(strstr(none, "BUILD_NUMBER"));
    assert_non_null(strstr(first, "-DBUILD_NUMBER=41"));
    assert_non_null(strstr(second, "-DBUILD_NUMBER=42"));
}

static int setup(void **state)
{
    temp_directory_make(root);
    temp_path(root, "cache", cache);
    temp_path(cache, "programs", programs);
    return device_setup(state);
}

static int teardown(void **state)
{
    temp_directory_remove(root);
    return device_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),        cmocka_unit_test(test_wrong_programs),    cmocka_unit_test(test_exchanged_directory),
        cmocka_unit_test(test_directories),  cmocka_unit_test(test_refused_directory), cmocka_unit_test(test_failed_writes),
        cmocka_unit_test(test_build_number),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests_name("runtime.program_cache", tests, setup, teardown);
}
