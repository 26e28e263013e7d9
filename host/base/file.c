/* SPDX-License-Identifier: MIT */
/* Files through POSIX: reading, directories, paths. Mapping: file_map.c. Writing: file_write.c. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text_start.h"

static clf_status fail_as(clf_status status, const char *verb, const char *path)
{
    return clfi_fail(status, "%s %s: %s", verb, path, strerror(errno));
}

clf_status clfi_fail_errno(const char *verb, const char *path)
{
    return fail_as(errno == ENOENT ? CLF_NOT_FOUND : errno == ENOMEM ? CLF_OUT_OF_MEMORY : CLF_IO, verb, path);
}

clf_status clfi_file_open_regular(const char *path, int *out)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would block until someone writes */
    if (fd < 0)
        return clfi_fail_errno("open", path);
    clf_status st = CLF_OK;
    if (fstat(fd, &info) != 0)
        st = clfi_fail_errno("stat", path);
    else if (!S_ISREG(info.st_mode))
        st = clfi_fail(CLF_IO, "%s: not a regular file", path);
    if (st != CLF_OK) {
        close(fd);
        return st;
    }
    *out = fd;
    return CLF_OK;
}

clf_status clfi_descriptor_read(int descriptor, const char *name, size_t limit, clf_str *out)
{
    size_t total = 0;
    char chunk[16384];
    for (;;) {
        const ssize_t got = read(descriptor, chunk, sizeof chunk);
        if (got == 0)
            return CLF_OK;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return clfi_fail_errno("read", name);
        total += (size_t)got;
        if (total > limit)
            CLF_FAIL(CLF_FORMAT, "%s: larger than %zu bytes", name, limit);
        CLF_TRY(clfi_str_append(out, chunk, (size_t)got));
    }
}

clf_status clfi_file_read(const char *path, size_t limit, clf_str *out)
{
    int fd;
    CLF_TRY(clfi_file_open_regular(path, &fd));
    const clf_status st = clfi_descriptor_read(fd, path, limit, out);
    close(fd);
    return st;
}

clf_status clfi_text_read(const char *path, size_t limit, clf_str *out)
{
    CLF_TRY(clfi_file_read(path, limit, out));
    return clfi_text_skip_mark(path, out);
}

static clf_status refuse_line(const char *name, size_t number, size_t limit)
{
    CLF_FAIL(CLF_FORMAT, "%s: line %zu is longer than %zu bytes", name, number, limit);
}

clf_status clfi_line_read(FILE *stream, const char *name, size_t number, size_t limit, clf_str *line, bool *out_any)
{
    char chunk[4096];
    size_t used = 0;
    int byte = 0;
    clf_status st = CLF_OK;
    clfi_str_clear(line);
    *out_any = false;
    flockfile(stream);
    while (st == CLF_OK && (byte = getc_unlocked(stream)) != EOF) {
        *out_any = true;
        if (byte == '\n')
            break;
        chunk[used++] = (char)byte;
        if (used < sizeof chunk)
            continue;
        st = line->length + used > limit ? refuse_line(name, number, limit) : clfi_str_append(line, chunk, used);
        used = 0;
    }
    const bool failed = byte == EOF && ferror(stream);
    if (failed)
        st = clfi_fail_errno("read", name);
    funlockfile(stream);
    CLF_TRY(st);
    if (line->length + used > limit)
        return refuse_line(name, number, limit);
    CLF_TRY(clfi_str_append(line, chunk, used));
    if (number != 1)
        return CLF_OK;
    const bool had_bytes = line->length > 0;
    CLF_TRY(clfi_text_skip_mark(name, line));
    *out_any = *out_any && (byte == '\n' || line->length > 0 || !had_bytes); /* a file of a mark alone has no line */
    return CLF_OK;
}

size_t clfi_line_length(const clf_str *line)
{
    return line->length - (line->length && line->data[line->length - 1] == '\r');
}

/* *out: whether something has this name. If so, *info describes it, by the same call of stat. */
static clf_status look_for(const char *path, struct stat *info, bool *out)
{
    char *parent;
    *out = true;
    if (stat(path, info) == 0)
        return CLF_OK;
    if (errno != ENOENT)
        return fail_as(CLF_IO, "look for", path);
    if (lstat(path, info) == 0) {
        if (S_ISLNK(info->st_mode))
            CLF_FAIL(CLF_IO, "look for %s: a link to a file that does not exist", path);
        return CLF_OK; /* another process made it between the two calls */
    }
    if (errno != ENOENT)
        return fail_as(CLF_IO, "look for", path);
    *out = false;
    if (!strchr(path, '/') || strcmp(path, "/") == 0)
        return CLF_OK;
    CLF_TRY(clfi_path_directory(path, &parent)); /* its folder may be absent too; a link to the folder that leads nowhere is an error */
    bool unused;
    const clf_status st = look_for(parent, info, &unused);
    free(parent);
    return st;
}

clf_status clfi_file_exists(const char *path, bool *out)
{
    struct stat info;
    return look_for(path, &info, out);
}

bool clfi_file_is_same(const struct stat *now, const struct stat *then)
{
    return now->st_dev == then->st_dev && now->st_ino == then->st_ino && now->st_size == then->st_size &&
           now->st_mtim.tv_sec == then->st_mtim.tv_sec && now->st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

clf_status clfi_file_need(const char *path)
{
    bool exists;
    CLF_TRY(clfi_file_exists(path, &exists));
    if (!exists)
        CLF_FAIL(CLF_NOT_FOUND, "%s: %s", path, strerror(ENOENT));
    return CLF_OK;
}

clf_status clfi_directory_exists(const char *path, bool *out)
{
    struct stat info;
    CLF_TRY(look_for(path, &info, out));
    *out = *out && S_ISDIR(info.st_mode);
    return CLF_OK;
}

clf_status clfi_make_directories(const char *path)
{
    char *copy;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_strdup(path, &copy));
    for (char *at = copy + 1; st == CLF_OK && *copy; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        const char end = *at;
        *at = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            st = clfi_fail_errno("create directory", copy);
        *at = end;
        if (end == '\0')
            break;
    }
    struct stat info;
    if (st == CLF_OK && stat(path, &info) != 0)
        st = clfi_fail_errno("look at directory", path);
    else if (st == CLF_OK && !S_ISDIR(info.st_mode))
        st = clfi_fail(CLF_IO, "create directory %s: a file of this name exists", path);
    free(copy);
    return st;
}

clf_status clfi_temporary_directory(const char *name, char **out)
{
    const char *parent = getenv("TMPDIR");
    clf_str path = CLF_STR_INIT;
    clf_status st = clfi_str_appendf(&path, "%s/%s-XXXXXX", parent && parent[0] ? parent : "/tmp", name);
    if (st == CLF_OK && !mkdtemp(path.data))
        st = clfi_fail_errno("create temporary directory", path.data);
    if (st == CLF_OK)
        *out = path.data;
    else
        clfi_str_free(&path);
    return st;
}

clf_status clfi_path_directory(const char *path, char **out)
{
    const char *slash = strrchr(path, '/');
    return slash ? clfi_strndup(path, slash == path ? 1 : (size_t)(slash - path), out) : clfi_strdup(".", out);
}

clf_status clfi_path_join(const char *directory, const char *name, char **out)
{
    clf_str path = CLF_STR_INIT;
    const size_t length = strlen(directory);
    const clf_status st = clfi_str_appendf(&path, "%s%s%s", directory, length && directory[length - 1] == '/' ? "" : "/", name);
    if (st != CLF_OK) {
        clfi_str_free(&path);
        return st;
    }
    *out = path.data;
    return CLF_OK;
}

clf_status clfi_path_absolute(const char *path, char **out)
{
    char working[PATH_MAX];
    if (path[0] == '/' || !getcwd(working, sizeof working)) /* a removed directory has no path */
        return clfi_strdup(path, out);
    return clfi_path_join(working, path, out);
}

clf_status clfi_file_find(const char *directory, const char *name, char **out)
{
    char *path;
    bool exists;
    *out = NULL;
    CLF_TRY(clfi_directory_exists(directory, &exists));
    if (!exists)
        return CLF_OK;
    CLF_TRY(clfi_path_join(directory, name, &path));
    const clf_status st = clfi_file_exists(path, &exists);
    if (st == CLF_OK && exists)
        *out = path;
    else
        free(path);
    return st;
}

clf_status clfi_user_directory(const char *variable, const char *home_default, char **out)
{
    const char *base = getenv(variable);
    const char *home = getenv("HOME");
    clf_str path = CLF_STR_INIT;
    clf_status st;
    if (base && base[0] == '/') /* the XDG specification ignores relative paths */
        st = clfi_str_appendf(&path, "%s/clformer", base);
    else if (home && home[0])
        st = clfi_str_appendf(&path, "%s/%s/clformer", home, home_default);
    else
        st = clfi_fail(CLF_NOT_FOUND, "neither %s nor HOME is set", variable);
    if (st != CLF_OK) {
        clfi_str_free(&path);
        return st;
    }
    *out = path.data;
    return CLF_OK;
}
