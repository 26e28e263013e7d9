/* SPDX-License-Identifier: MIT */
/* Kernel text: includes, once and before their includer, files that replace those built in, and what is refused; the text of options. */
#include "runtime/kernel_source.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "runtime/kernel_spec.h"
#include "runtime/program.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

#define FILE_OF(path, text)         \
    {                               \
        path, text, sizeof text - 1 \
    }

static const clf_kernel_file files[] = {
    FILE_OF("any/plain.cl", "int plain;\n"),
    FILE_OF("any/left.cl", "#include \"base.cl\"\nint left;\n"),
    FILE_OF("any/right.cl", "int before;\n#include \"base.cl\"\nint right;"),
    FILE_OF("any/base.cl", "int base;\n"),
    FILE_OF("any/top.cl", "#include \"left.cl\"\n#include \"right.cl\"\nint top;\n"),
    FILE_OF("any/self.cl", "#include \"self.cl\"\nint self;\n"),
    FILE_OF("any/lost.cl", "#include \"nowhere.cl\"\n"),
    FILE_OF("any/text.cl", " #include \"base.cl\"\n#include <base.cl>\n#include \"base.cl\n#include \"\"\n// #include \"base.cl\"\n"),
    FILE_OF("any/empty.cl", ""),
};
static const clf_kernel_set own = {files, COUNT(files)};

static void check_text(const char *directory, const char *name, const char *want)
{
    clf_str text = CLF_STR_INIT;
    CHECK_OK(clfi_kernel_source(directory, &own, name, &text));
    assert_string_equal(clfi_str_text(&text), want);
    clfi_str_free(&text);
}

static void test_includes(void **state)
{
    (void)state;
    check_text(NULL, "plain.cl", "#line 1 \"plain.cl\"\nint plain;\n");
    check_text(NULL, "empty.cl", "#line 1 \"empty.cl\"\n");
    /* lines keep their numbers */
    check_text(NULL, "right.cl", "#line 1 \"base.cl\"\nint base;\n#line 1 \"right.cl\"\nint before;\n\nint right;\n");
    check_text(NULL, "top.cl",
               "#line 1 \"base.cl\"\nint base;\n#line 1 \"left.cl\"\n\nint left;\n#line 1 \"right.cl\"\nint before;\n\nint right;\n"
               "#line 1 \"top.cl\"\n\n\nint top;\n");
    check_text(NULL, "self.cl", "#line 1 \"self.cl\"\n\nint self;\n");
    check_text(
        NULL, "text.cl",
        "#line 1 \"text.cl\"\n #include \"base.cl\"\n#include <base.cl>\n#include \"base.cl\n#include \"\"\n// #include \"base.cl\"\n");
}

/* The caller's own file comes before the library's of the same name; files that the caller lacks are the library's. */
static void test_sets(void **state)
{
    (void)state;
    static const char library[] = "softmax_group.cl";
    const clf_kernel_file *file = clfi_kernel_find(NULL, library);
    assert_non_null(file);
    assert_true(file == clfi_kernel_find(&own, library));
    assert_true(clfi_kernel_find(&own, "base.cl") == &files[3]);
    assert_null(clfi_kernel_find(NULL, "base.cl"));
    const clf_kernel_file shadow[] = {FILE_OF("gpu/softmax_group.cl", "int shadow;\n")};
    const clf_kernel_set shadows = {shadow, 1};
    assert_true(clfi_kernel_find(&shadows, library) == shadow);
}

/* Every file of the library resolves, and takes its includes from the library alone. But for launch graphs, none asks how many groups or
 * items its launch has, which may be a piece of the whole. */
static void test_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < clfi_kernels.count; i++) {
        const char *name = strrchr(clfi_kernels.files[i].path, '/') + 1;
        char last[96];
        clf_str text = CLF_STR_INIT;
        CHECK_OK(clfi_kernel_source(NULL, NULL, name, &text));
        snprintf(last, sizeof last, "#line 1 \"%s\"\n", name);
        CHECK(strstr(clfi_str_text(&text), last), "%s is not in its own text", name);
        CHECK(!strstr(clfi_str_text(&text), "\n#include \""), "%s: an include is left", name);
        CHECK(strstr(name, "_graph.cl") ||
                  (!strstr(clfi_str_text(&text), "get_num_groups") && !strstr(clfi_str_text(&text), "get_global_size")),
              "%s asks for the size of its launch", name);
        clfi_str_free(&text);
    }
}

static void test_missing(void **state)
{
    (void)state;
    clf_str text = CLF_STR_INIT;
    char name[80];
    CHECK_FAILS(clfi_kernel_source(NULL, &own, "nowhere.cl", &text), CLF_NOT_FOUND, "kernel file \"nowhere.cl\"");
    CHECK_FAILS(clfi_kernel_source(NULL, &own, "lost.cl", &text), CLF_NOT_FOUND, "kernel file \"nowhere.cl\"");
    CHECK_FAILS(clfi_kernel_source(NULL, NULL, "base.cl", &text), CLF_NOT_FOUND, "kernel file \"base.cl\"");
    CHECK_FAILS(clfi_kernel_source(NULL, &own, "any/base.cl", &text), CLF_NOT_FOUND, "any/base.cl"); /* a name, no path */
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_FAILS(clfi_kernel_source(NULL, &own, name, &text), CLF_UNSUPPORTED, "a name too long");
    clfi_str_free(&text);
}

/* A chain of includes longer than any kernel has. */
static void test_too_many(void **state)
{
    enum { MOST = 16 };
    static char paths[MOST + 1][32], texts[MOST + 1][40];
    clf_kernel_file chain[MOST + 1];
    const clf_kernel_set set = {chain, COUNT(chain)};
    clf_str text = CLF_STR_INIT;
    (void)state;
    for (int i = 0; i <= MOST; i++) {
        snprintf(paths[i], sizeof paths[i], "any/f%d.cl", i);
        snprintf(texts[i], sizeof texts[i], "#include \"f%d.cl\"\n", i + 1);
        chain[i] = (clf_kernel_file){paths[i], i < MOST ? texts[i] : "int end;\n", i < MOST ? strlen(texts[i]) : 9};
    }
    CHECK_OK(clfi_kernel_source(NULL, &set, "f1.cl", &text));
    CHECK_FAILS(clfi_kernel_source(NULL, &set, "f0.cl", &text), CLF_UNSUPPORTED, "kernel file \"f16.cl\": more than 16 files");
    clfi_str_free(&text);
}

/* CLF_KERNEL_DIR: files there replace those built in, the others stay; a file that cannot be read is no reason to take another. */
static void test_directory(void **state)
{
    static char large[(1 << 20) + 1];
    char path[TEMP_PATH_BYTES];
    clf_str text = CLF_STR_INIT;
    (void)state;
    temp_file_below(temp_root, "any/base.cl", "int other;\n", 11);
    check_text(temp_root, "left.cl", "#line 1 \"base.cl\"\nint other;\n#line 1 \"left.cl\"\n\nint left;\n");
    check_text("/nonexistent", "plain.cl", "#line 1 \"plain.cl\"\nint plain;\n");
    memset(large, ' ', sizeof large);
    temp_file_below(temp_root, "any/plain.cl", large, sizeof large);
    CHECK_FAILS(clfi_kernel_source(temp_root, &own, "plain.cl", &text), CLF_FORMAT, temp_path(temp_root, "any/plain.cl", path));
    temp_file_below(temp_root, "any/lost.cl", "int found;\n", 11);
    clfi_str_clear(&text);
    CHECK_OK(clfi_kernel_source(temp_root, &own, "lost.cl", &text));
    assert_string_equal(clfi_str_text(&text), "#line 1 \"lost.cl\"\nint found;\n");
    clfi_str_free(&text);
}

static void test_options(void **state)
{
    clf_context *context;
    clf_kernel *kernel;
    clf_kernel_spec a = clfi_kernel_spec("f.cl", "k"), b = a;
    (void)state;
    clfi_spec_int(&a, "N", -9223372036854775807LL - 1);
    clfi_spec_int(&a, "ZERO", 0);
    clfi_spec_text(&a, "T", "float");
    assert_string_equal(a.options, " -DN=-9223372036854775808 -DZERO=0 -DT=float");
    assert_int_equal(a.length, strlen(a.options));
    clfi_spec_text(&b, "N", "-9223372036854775808");
    assert_true(clfi_spec_hash(&a) != clfi_spec_hash(&b));
    clfi_spec_int(&b, "ZERO", 0);
    clfi_spec_text(&b, "T", "float");
    assert_true(clfi_spec_hash(&a) == clfi_spec_hash(&b) && !a.overflow);
    for (int i = 0; i < CLFI_SPEC_BYTES; i++)
        clfi_spec_int(&b, "M", i);
    assert_true(b.overflow && b.length < CLFI_SPEC_BYTES && b.options[b.length] == '\0');
    device_setup((void **)&context);
    CHECK_FAILS(clfi_kernel_get(context, &b, &kernel), CLF_INTERNAL, "kernel k: options longer than");
    CHECK_FAILS(clfi_kernel_get(context, &a, &kernel), CLF_NOT_FOUND, "kernel file \"f.cl\"");
    clf_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_includes), cmocka_unit_test(test_sets),      cmocka_unit_test(test_library), cmocka_unit_test(test_missing),
        cmocka_unit_test(test_too_many), cmocka_unit_test(test_directory), cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests_name("runtime.kernel_source", tests, temp_setup, temp_teardown);
}
