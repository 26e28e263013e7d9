/* SPDX-License-Identifier: MIT */
/* Files through POSIX: mmap for reading, temporary + rename for writing. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static clf_status fail_errno(const char *verb, const char *path)
{
    const int code = errno;
    return clfi_fail(code == ENOENT ? CLF_NOT_FOUND : CLF_IO, "%s %s: %s", verb, path, strerror(code));
}

clf_status clfi_file_map(const char *path, clf_file_map *out)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would block until someone writes */
    if (fd < 0)
        return fail_errno("open", path);
    clf_status st = CLF_OK;
    struct stat info;
    clf_file_map map = {NULL, 0};
    if (fstat(fd, &info) != 0) {
        st = fail_errno("stat", path);
    } else if (!S_ISREG(info.st_mode)) {
        st = clfi_fail(CLF_IO, "%s: not a regular file", path);
    } else if (info.st_size > 0) {
        map.size = (size_t)info.st_size;
        /* Writable private pages: some OpenCL drivers refuse host pointers that they could not write to. Nothing is written. */
        void *data = mmap(NULL, map.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
        if (data == MAP_FAILED)
            st = fail_errno("map", path);
        else
            map.data = data;
    }
    close(fd);
    if (st == CLF_OK)
        *out = map;
    return st;
}

void clfi_file_unmap(clf_file_map *map)
{
    if (map->data)
        munmap((void *)map->data, map->size);
    *map = (clf_file_map){NULL, 0};
}

void clfi_file_map_forget(const clf_file_map *map, size_t offset, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t first = (offset + page - 1) / page * page; /* whole pages inside the range only */
    const size_t last = (offset + size) / page * page;
    if (map->data && last > first && last <= map->size)
        madvise((void *)(map->data + first), last - first, MADV_DONTNEED);
}

clf_status clfi_file_read(const char *path, size_t limit, clf_str *out)
{
    FILE *stream = fopen(path, "rbe");
    if (!stream)
        return fail_errno("open", path);
    clf_status st = CLF_OK;
    size_t total = 0;
    char chunk[16384];
    while (st == CLF_OK) {
        const size_t got = fread(chunk, 1, sizeof chunk, stream);
        if (got == 0)
            break;
        total += got;
        st = total > limit ? clfi_fail(CLF_FORMAT, "%s: larger than %zu bytes", path, limit) : clfi_str_append(out, chunk, got);
    }
    if (st == CLF_OK && ferror(stream))
        st = fail_errno("read", path);
    fclose(stream);
    return st;
}

bool clfi_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

bool clfi_directory_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
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
            st = fail_errno("create directory", copy);
        *at = end;
        if (end == '\0')
            break;
    }
    if (st == CLF_OK && !clfi_directory_exists(path))
        st = clfi_fail(CLF_IO, "create directory %s: exists and is no directory", path);
    free(copy);
    return st;
}

/* "directory of path", for opening. */
static clf_status directory_of(const char *path, char **out)
{
    const char *slash = strrchr(path, '/');
    return slash ? clfi_strndup(path, slash == path ? 1 : (size_t)(slash - path), out) : clfi_strdup(".", out);
}

enum { DESCRIPTOR_PATH_BYTES = 32 };

static const char *descriptor_path(int fd, char out[DESCRIPTOR_PATH_BYTES])
{
    snprintf(out, DESCRIPTOR_PATH_BYTES, "/proc/self/fd/%d", fd);
    return out;
}

/* A file without a name in the directory of path, which leaves nothing behind if the process is ended; -1 where the system has none. */
static int open_nameless(const char *path)
{
#ifdef O_TMPFILE
    char *directory, self[DESCRIPTOR_PATH_BYTES];
    if (directory_of(path, &directory) != CLF_OK)
        return -1;
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    free(directory);
    if (fd >= 0 && access(descriptor_path(fd, self), F_OK) != 0) { /* without /proc it could never get a name */
        close(fd);
        fd = -1;
    }
    return fd;
#else
    (void)path;
    return -1;
#endif
}

/* Gives a nameless file the temporary name, which is a template like mkstemp's. */
static bool give_name(int fd, char *template)
{
    char self[DESCRIPTOR_PATH_BYTES], *end = template + strlen(template) - 6;
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        const unsigned long number = (unsigned long)getpid() * 1000 + attempt;
        snprintf(end, 7, "%06lx", number & 0xffffff);
        if (linkat(AT_FDCWD, descriptor_path(fd, self), AT_FDCWD, template, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

clf_status clfi_atomic_open(const char *path, clf_atomic_file *out)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) /* a rename would replace the device or pipe by a file */
        CLF_FAIL(CLF_IO, "write %s: not a regular file", path);
    clf_atomic_file file = {NULL, NULL, NULL, false};
    clf_str name = CLF_STR_INIT;
    clf_status st = clfi_strdup(path, &file.path);
    if (st == CLF_OK)
        st = clfi_str_appendf(&name, "%s.XXXXXX", path);
    if (st == CLF_OK) {
        file.temporary = name.data;
        int fd = open_nameless(path);
        file.is_nameless = fd >= 0;
        if (fd < 0 && (fd = mkstemp(file.temporary)) >= 0) {
            const mode_t mask = umask(0);
            umask(mask);
            fchmod(fd, 0666 & ~mask);
        }
        if (fd < 0) {
            st = fail_errno("create", path);
        } else {
            file.stream = fdopen(fd, "wb");
            if (!file.stream) {
                st = fail_errno("open", file.temporary);
                close(fd);
                if (!file.is_nameless)
                    unlink(file.temporary);
            }
        }
    }
    if (st != CLF_OK) {
        free(file.path);
        clfi_str_free(&name);
        return st;
    }
    *out = file;
    return CLF_OK;
}

static void release(clf_atomic_file *file)
{
    free(file->path);
    free(file->temporary);
    *file = (clf_atomic_file){NULL, NULL, NULL, false};
}

clf_status clfi_atomic_commit(clf_atomic_file *file)
{
    clf_status st = CLF_OK;
    bool failed = ferror(file->stream) != 0;
    failed |= fflush(file->stream) != 0;
    const bool has_name = !file->is_nameless || (!failed && give_name(fileno(file->stream), file->temporary));
    failed |= !has_name;
    if (failed)
        st = fail_errno("write", file->path);
    if (fclose(file->stream) != 0 && st == CLF_OK)
        st = fail_errno("write", file->path);
    if (st == CLF_OK && rename(file->temporary, file->path) != 0)
        st = fail_errno("rename to", file->path);
    if (st != CLF_OK && has_name)
        unlink(file->temporary);
    release(file);
    return st;
}

void clfi_atomic_abandon(clf_atomic_file *file)
{
    if (!file->stream)
        return;
    fclose(file->stream);
    if (!file->is_nameless)
        unlink(file->temporary);
    release(file);
}

clf_status clfi_file_write(const char *path, const void *data, size_t size)
{
    clf_atomic_file file;
    CLF_TRY(clfi_atomic_open(path, &file));
    if (size)
        fwrite(data, 1, size, file.stream); /* commit checks the stream's error flag */
    return clfi_atomic_commit(&file);
}

clf_status clfi_path_join(const char *directory, const char *name, char **out)
{
    clf_str path = CLF_STR_INIT;
    const size_t length = strlen(directory);
    const clf_status st =
        clfi_str_appendf(&path, "%s%s%s", directory, length && directory[length - 1] == '/' ? "" : "/", name);
    if (st != CLF_OK) {
        clfi_str_free(&path);
        return st;
    }
    *out = path.data;
    return CLF_OK;
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
