/* SPDX-License-Identifier: MIT */
/* Finds out what stands where an output is to be written: follows links, tells files from pipes, and compares two destinations. */
#include "base/output_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

enum { MOST_LINKS = 40, LINK_BYTES = 4096 };

/* Resolves the text of a link at `path`. */
static clf_status link_target(const char *path, const char *text, char **out)
{
    char *directory;
    if (text[0] == '/')
        return clfi_strdup(text, out);
    CLF_TRY(clfi_path_directory(path, &directory));
    const clf_status st = clfi_path_join(directory, text, out);
    free(directory);
    return st;
}

clf_status clfi_path_follow(const char *path, char **out)
{
    char text[LINK_BYTES], *at, *next;
    CLF_TRY(clfi_strdup(path, &at));
    for (int links = 0;; links++) {
        const ssize_t size = readlink(at, text, sizeof text - 1);
        if (size < 0) { /* not a link; creating the file reports other faults */
            *out = at;
            return CLF_OK;
        }
        text[size] = '\0';
        errno = ELOOP;
        const clf_status st = links == MOST_LINKS ? clfi_fail_errno("write", path) : link_target(at, text, &next);
        free(at);
        CLF_TRY(st);
        at = next;
    }
}

clf_status clfi_output_look(const char *path, clf_output_state *out)
{
    struct stat standard;
    clf_output_state p = {.is_standard_output = strcmp(path, "-") == 0};
    if (!p.is_standard_output) {
        p.exists = stat(path, &p.info) == 0;
        if (!p.exists && errno != ENOENT)
            return clfi_fail_errno("write", path);
        if (p.exists && S_ISDIR(p.info.st_mode))
            CLF_FAIL(CLF_IO, "write %s: is a directory", path);
        p.is_standard_output =
            p.exists && fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == p.info.st_dev && standard.st_ino == p.info.st_ino;
    }
    p.is_stream = p.is_standard_output || (p.exists && !S_ISREG(p.info.st_mode));
    if (!p.is_stream)
        CLF_TRY(clfi_path_follow(path, &p.target));
    *out = p;
    return CLF_OK;
}

clf_status clfi_output_refuse_stream(const char *path)
{
    CLF_FAIL(CLF_IO, "write %s: not a regular file", path);
}

static clf_status check_directory(const char *path, const char *target)
{
    char *directory;
    CLF_TRY(clfi_path_directory(target, &directory));
    const clf_status st = access(directory, W_OK | X_OK) == 0 ? CLF_OK : clfi_fail_errno("create", path);
    free(directory);
    return st;
}

clf_status clfi_output_find(const char *path, clf_output_place *out)
{
    clf_output_state at;
    CLF_TRY(clfi_output_look(path, &at));
    *out = at.is_standard_output ? CLF_OUTPUT_STANDARD : at.is_stream ? CLF_OUTPUT_STREAM : CLF_OUTPUT_FILE;
    free(at.target);
    return CLF_OK;
}

clf_status clfi_output_check(const char *path, bool is_file)
{
    clf_output_state at;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_output_look(path, &at));
    if (at.exists && !at.is_standard_output && access(path, W_OK) != 0)
        st = clfi_fail_errno("write", path);
    else if (at.is_stream)
        st = is_file ? clfi_output_refuse_stream(path) : CLF_OK;
    else
        st = check_directory(path, at.target);
    free(at.target);
    return st;
}

/* Whether two files that do not exist yet would be one: the same name in the same folder. */
static clf_status would_be_same(const char *a, const char *b, bool *out)
{
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    struct stat in_a, in_b;
    char *folder;
    *out = false;
    if (strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) != 0)
        return CLF_OK;
    CLF_TRY(clfi_path_directory(a, &folder));
    const bool has_a = stat(folder, &in_a) == 0;
    free(folder);
    CLF_TRY(clfi_path_directory(b, &folder));
    *out = has_a && stat(folder, &in_b) == 0 && in_a.st_dev == in_b.st_dev && in_a.st_ino == in_b.st_ino;
    free(folder);
    return CLF_OK;
}

clf_status clfi_outputs_are_same(const char *a, const char *b, bool *out_same)
{
    clf_output_state p, q = {.target = NULL};
    CLF_TRY(clfi_output_look(a, &p));
    clf_status st = clfi_output_look(b, &q);
    if (st == CLF_OK && p.target && q.target && !p.exists && !q.exists)
        st = would_be_same(p.target, q.target, out_same);
    else if (st == CLF_OK)
        *out_same = (p.is_standard_output && q.is_standard_output) ||
                    (p.exists && q.exists && p.info.st_dev == q.info.st_dev && p.info.st_ino == q.info.st_ino && !S_ISCHR(p.info.st_mode));
    free(p.target);
    free(q.target);
    return st;
}
