/* SPDX-License-Identifier: MIT */
/* A file that is truncated while it is converted: an error that names it, and no file of zeros under the new name. */
#include "io/gguf_convert.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "io/gguf.h"
#include "model/gguf_export.h"
#include "support/check.h"
#include "support/temp.h"

#define LLAMA CLF_TEST_DATA "/generation/llama"
#define LLAMA_BLOCKS CLF_TEST_DATA "/generation/llama_blocks"

/* A copy of directory/name below temp_root. */
static void copy(const char *directory, const char *name, char path[TEMP_PATH_BYTES])
{
    char from[TEMP_PATH_BYTES];
    clf_str content = CLF_STR_INIT;
    CHECK_OK(clfi_file_read(temp_path(directory, name, from), 1 << 20, &content));
    temp_file(temp_root, name, content.data, content.length, path);
    clfi_str_free(&content);
}

static const clf_gguf_file_type *f16_file(void)
{
    const clf_gguf_file_type *type;
    CHECK_OK(clfi_gguf_file_type_find("f16", &type));
    return type;
}

/* A clf_gguf_progress's tell. */
static void cut(void *user, size_t done, size_t total)
{
    (void)total;
    if (done > 0)
        assert_int_equal(truncate(user, 0), 0);
}

static void test_file(void **state)
{
    char path[TEMP_PATH_BYTES], out[TEMP_PATH_BYTES];
    clf_gguf *file;
    clf_gguf_converted done;
    bool exists;
    (void)state;
    copy(LLAMA_BLOCKS, "model.gguf", path);
    const clf_gguf_progress progress = {cut, path};
    CHECK_OK(clfi_gguf_open(path, &file));
    temp_path(temp_root, "out.gguf", out);
    CHECK_OK(clfi_gguf_convert(file, f16_file(), out, NULL, &done));
    CHECK(unlink(out) == 0 && done.changed > 1, "%zu tensors", done.changed);
    CHECK_FAILS(clfi_gguf_convert(file, f16_file(), out, &progress, &done), CLF_IO, "model.gguf: expected ");
    CHECK_OK(clfi_file_exists(out, &exists));
    assert_false(exists);
    clfi_gguf_close(file);
}

static void test_directory(void **state)
{
    char path[TEMP_PATH_BYTES], out[TEMP_PATH_BYTES];
    clf_gguf_exported done;
    bool exists;
    (void)state;
    copy(LLAMA, "config.json", path);
    copy(LLAMA, "tokenizer.json", path);
    copy(LLAMA, "model.safetensors", path);
    const clf_gguf_progress progress = {cut, path};
    temp_path(temp_root, "out.gguf", out);
    CHECK_OK(clfi_gguf_export(temp_root, f16_file(), out, NULL, &done));
    assert_int_equal(unlink(out), 0);
    CHECK_FAILS(clfi_gguf_export(temp_root, f16_file(), out, &progress, &done), CLF_IO, "model.safetensors: expected ");
    CHECK_OK(clfi_file_exists(out, &exists));
    assert_false(exists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_file), cmocka_unit_test(test_directory)};
    return cmocka_run_group_tests_name("unit.gguf_write", tests, temp_setup, temp_teardown);
}
