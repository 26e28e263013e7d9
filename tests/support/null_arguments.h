/* SPDX-License-Identifier: MIT */
/* Checks the rule of clformer.h for NULL, for tests that call every public function once for each pointer that must not be NULL.
 * check_list compares the called functions with the headers, so that none is forgotten. */
#ifndef CLF_TEST_SUPPORT_NULL_ARGUMENTS_H
#define CLF_TEST_SUPPORT_NULL_ARGUMENTS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "clformer/clformer.h"
#include "support/check.h"
#include "support/device.h"

enum { MOST = 512, NAME = 96 };

static char called[MOST][NAME];
static size_t called_count;

/* Notes the name of the called function from the text of a call. */
static void note(const char *call)
{
    const size_t length = strcspn(call, "(");
    assert_true(called_count < MOST && length < NAME);
    memcpy(called[called_count++], call, length);
}

static bool is_called(const char *name)
{
    for (size_t i = 0; i < called_count; i++)
        if (strcmp(called[i], name) == 0)
            return true;
    return false;
}

#define REFUSES(call)                                                                                                         \
    do {                                                                                                                      \
        const clf_status null_status = (call);                                                                                \
        note(#call);                                                                                                          \
        CHECK(null_status == CLF_INVALID_ARGUMENT, "%s: %s, expected invalid argument", #call, clf_status_text(null_status)); \
    } while (0)

#define GIVES(call, value)                                    \
    do {                                                      \
        note(#call);                                          \
        CHECK((call) == (value), "%s is not " #value, #call); \
    } while (0)

#define RETURNS(call) \
    do {              \
        note(#call);  \
        call;         \
    } while (0)

/* Checks that the test has called every function that a header declares with CLF_API; returns their number. */
static size_t check_header(const char *path)
{
    clf_str text = CLF_STR_INIT;
    size_t count = 0;
    CHECK_OK(clfi_file_read(path, SIZE_MAX, &text));
    for (const char *at = strstr(clfi_str_text(&text), "\nCLF_API "); at; at = strstr(at + 1, "\nCLF_API ")) {
        char name[NAME];
        const char *end = strchr(at, '('), *start = end;
        while (start > at && start[-1] != ' ' && start[-1] != '*')
            start--;
        assert_true(end && (size_t)(end - start) < sizeof name);
        snprintf(name, sizeof name, "%.*s", (int)(end - start), start);
        CHECK(is_called(name), "%s of %s is not in the test", name, path);
        count++;
    }
    clfi_str_free(&text);
    return count;
}

/* Whether test model.null_operands covers the header; model.null_arguments covers the others. */
static bool is_of_operands(const char *header)
{
    static const char *const headers[] = {"activation.h", "attention.h", "context.h", "device.h",  "einsum.h", "linear.h",
                                          "opencl.h",     "ops.h",       "search.h",  "softmax.h", "status.h", "tensor.h"};
    for (size_t i = 0; i < COUNT(headers); i++)
        if (strcmp(headers[i], header) == 0)
            return true;
    return false;
}

static void check_list(bool of_operands)
{
    DIR *directory = opendir(CLF_TEST_INCLUDE "/clformer");
    size_t count = 0;
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory));) {
        const char *end = strrchr(entry->d_name, '.');
        char path[512];
        if (!end || strcmp(end, ".h") != 0 || is_of_operands(entry->d_name) != of_operands)
            continue;
        snprintf(path, sizeof path, "%s/clformer/%s", CLF_TEST_INCLUDE, entry->d_name);
        count += check_header(path);
    }
    closedir(directory);
    assert_true(count > 50);
}

#endif
