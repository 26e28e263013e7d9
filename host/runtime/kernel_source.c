/* SPDX-License-Identifier: MIT */
/* Finds kernel files and resolves their includes. */
#include "runtime/kernel_source.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

enum { MAX_FILES = 16, MAX_FILE_BYTES = 1 << 20 };

typedef struct resolver {
    const char *directory;
    const clf_kernel_set *own;
    clf_str *out;
    char seen[MAX_FILES][64];
    size_t seen_count;
} resolver;

static const clf_kernel_file *find(const clf_kernel_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(strrchr(set->files[i].path, '/') + 1, name) == 0)
            return &set->files[i];
    return NULL;
}

const clf_kernel_file *clfi_kernel_find(const clf_kernel_set *own, const char *name)
{
    const clf_kernel_file *file = own ? find(own, name) : NULL;
    return file ? file : find(&clfi_kernels, name);
}

static clf_status read_text(const resolver *r, const char *name, clf_str *out)
{
    const clf_kernel_file *file = clfi_kernel_find(r->own, name);
    if (!file)
        CLF_FAIL(CLF_NOT_FOUND, "kernel file \"%s\": not found", name);
    if (r->directory) {
        char *path;
        bool exists;
        CLF_TRY(clfi_path_join(r->directory, file->path, &path));
        clf_status st = clfi_file_exists(path, &exists);
        if (st == CLF_OK && exists)
            st = clfi_file_read(path, MAX_FILE_BYTES, out);
        free(path);
        if (st != CLF_OK || exists)
            return st;
    }
    return clfi_str_append(out, file->text, file->size);
}

/* Reads the name from a line `#include "name"`; false for any other line. */
static bool parse_include(const char *line, size_t length, char name[64])
{
    static const char directive[] = "#include \"";
    const size_t start = sizeof directive - 1;
    if (length <= start || memcmp(line, directive, start) != 0)
        return false;
    const char *end = memchr(line + start, '"', length - start);
    const size_t size = end ? (size_t)(end - line) - start : 0;
    if (size == 0 || size >= 64)
        return false;
    memcpy(name, line + start, size);
    name[size] = '\0';
    return true;
}

static clf_status resolve(resolver *r, const char *name)
{
    for (size_t i = 0; i < r->seen_count; i++)
        if (strcmp(r->seen[i], name) == 0)
            return CLF_OK;
    if (r->seen_count == MAX_FILES || strlen(name) >= sizeof r->seen[0])
        CLF_FAIL(CLF_UNSUPPORTED, "kernel file \"%s\": more than %d files, or a name too long", name, MAX_FILES);
    strcpy(r->seen[r->seen_count++], name);

    clf_str text = CLF_STR_INIT;
    clf_status st = read_text(r, name, &text);
    const char *line = clfi_str_text(&text);
    const char *const end = line + text.length;
    for (const char *at = line; st == CLF_OK && at < end;) { /* included files come first */
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        char included[64];
        const size_t length = (size_t)((newline ? newline : end) - at);
        if (parse_include(at, length, included))
            st = resolve(r, included);
        at += length + 1;
    }
    if (st == CLF_OK)
        st = clfi_str_appendf(r->out, "#line 1 \"%s\"\n", name);
    while (st == CLF_OK && line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        char included[64];
        const size_t length = (size_t)((newline ? newline : end) - line);
        if (!parse_include(line, length, included))
            st = clfi_str_append(r->out, line, length);
        if (st == CLF_OK)
            st = clfi_str_append_char(r->out, '\n');
        line += length + 1;
    }
    clfi_str_free(&text);
    return st;
}

clf_status clfi_kernel_source(const char *directory, const clf_kernel_set *own, const char *name, clf_str *out)
{
    resolver r = {.directory = directory, .own = own, .out = out};
    return resolve(&r, name);
}
