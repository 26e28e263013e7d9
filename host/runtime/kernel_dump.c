/* SPDX-License-Identifier: MIT */
/* Writes kernels as files for other compilers (CLF_KERNEL_DUMP). */
#include "runtime/kernel_dump.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"

static clf_status write_named(const char *directory, const char *kernel, const clf_str *text)
{
    char hash[CLFI_HASH_TEXT_BYTES];
    clf_str path = CLF_STR_INIT;
    clfi_hash(clfi_str_text(text), text->length, hash);
    clf_status st = clfi_str_appendf(&path, "%s/%s-%s.cl", directory, kernel, hash);
    if (st == CLF_OK)
        st = clfi_file_write(path.data, clfi_str_text(text), text->length);
    clfi_str_free(&path);
    return st;
}

clf_status clfi_kernel_dump(const char *directory, const clf_kernel_spec *spec, const clf_str *source)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = clfi_make_directories(directory);
    if (st == CLF_OK)
        st = clfi_str_appendf(&text, "// %s: %s\n// options:%s\n", clfi_kernel_find(spec->own, spec->file)->path, spec->kernel,
                              spec->options);
    if (st == CLF_OK)
        st = clfi_str_append(&text, clfi_str_text(source), source->length);
    if (st == CLF_OK)
        st = write_named(directory, spec->kernel, &text);
    clfi_str_free(&text);
    return st;
}
