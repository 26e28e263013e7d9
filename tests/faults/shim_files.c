/* SPDX-License-Identifier: MIT */
/* Files, streams, processes and sockets. A call that fails does nothing, except that what closes does close. Not failed: writing to
 * standard error, where no message could tell of it, and removing a file. */
#include "shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STREAM_FAILED = 0x20 /* the C library's flag behind ferror() */ };

#define STRIKES(class, what) shim_strikes_file(class, SHIM_CALLER, __func__, what)
#define STRIKES_WRITING(what) (STRIKES(SHIM_EIO, what) || STRIKES(SHIM_ENOSPC, what))
#define STRIKES_STREAM(stream) ((stream) != stderr && STRIKES_WRITING(NULL) && mark(stream))
#define ONE_BYTE(size) ((size) > 1 && STRIKES(SHIM_SHORT, NULL) ? 1 : (size))

static bool mark(FILE *stream)
{
    stream->_flags |= STREAM_FAILED;
    return true;
}

/* --- opening ---------------------------------------------------------------------------------------------------------------------- */

int open(const char *path, int flags, ...)
{
    SHIM_REAL(open);
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (STRIKES(SHIM_EIO, path) || ((flags & O_ACCMODE) != O_RDONLY && STRIKES(SHIM_ENOSPC, path)))
        return -1;
    return real(path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    SHIM_REAL(openat);
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (STRIKES(SHIM_EIO, path) || ((flags & O_ACCMODE) != O_RDONLY && STRIKES(SHIM_ENOSPC, path)))
        return -1;
    return real(directory, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    SHIM_REAL(fopen);
    if (STRIKES(SHIM_EIO, path) || (mode[0] != 'r' && STRIKES(SHIM_ENOSPC, path)))
        return NULL;
    return real(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
    SHIM_REAL(fdopen);
    return STRIKES(SHIM_EIO, NULL) ? NULL : real(fd, mode);
}

int mkstemp(char *template)
{
    SHIM_REAL(mkstemp);
    return STRIKES_WRITING(template) ? -1 : real(template);
}

char *mkdtemp(char *template)
{
    SHIM_REAL(mkdtemp);
    return STRIKES_WRITING(template) ? NULL : real(template);
}

DIR *opendir(const char *path)
{
    SHIM_REAL(opendir);
    return STRIKES(SHIM_EIO, path) ? NULL : real(path);
}

DIR *fdopendir(int fd)
{
    SHIM_REAL(fdopendir);
    return STRIKES(SHIM_EIO, NULL) ? NULL : real(fd);
}

struct dirent *readdir(DIR *directory)
{
    SHIM_REAL(readdir);
    return STRIKES(SHIM_EIO, NULL) ? NULL : real(directory);
}

/* A call that takes a path first or names none, and returns -1 on failure. */
#define CALL(name, parameters, arguments, strikes) \
    int name parameters                            \
    {                                              \
        SHIM_REAL(name);                           \
        return strikes ? -1 : real arguments;      \
    }

CALL(stat, (const char *path, struct stat *out), (path, out), STRIKES(SHIM_EIO, path))
CALL(lstat, (const char *path, struct stat *out), (path, out), STRIKES(SHIM_EIO, path))
CALL(fstat, (int fd, struct stat *out), (fd, out), STRIKES(SHIM_EIO, NULL))
CALL(fstatat, (int fd, const char *path, struct stat *out, int flags), (fd, path, out, flags), STRIKES(SHIM_EIO, path))
CALL(access, (const char *path, int mode), (path, mode), STRIKES(SHIM_EIO, path))
CALL(faccessat, (int fd, const char *path, int mode, int flags), (fd, path, mode, flags), STRIKES(SHIM_EIO, path))
CALL(mkdir, (const char *path, mode_t mode), (path, mode), STRIKES_WRITING(path))
CALL(mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode), STRIKES_WRITING(path))
CALL(rename, (const char *from, const char *to), (from, to), STRIKES_WRITING(to))
CALL(renameat, (int from_at, const char *from, int to_at, const char *to), (from_at, from, to_at, to), STRIKES_WRITING(to))
CALL(renameat2, (int from_at, const char *from, int to_at, const char *to, unsigned flags), (from_at, from, to_at, to, flags),
     STRIKES_WRITING(to))
CALL(link, (const char *from, const char *to), (from, to), STRIKES_WRITING(to))
CALL(linkat, (int from_at, const char *from, int to_at, const char *to, int flags), (from_at, from, to_at, to, flags), STRIKES_WRITING(to))
CALL(chmod, (const char *path, mode_t mode), (path, mode), STRIKES(SHIM_EIO, path))
CALL(fchmod, (int fd, mode_t mode), (fd, mode), STRIKES(SHIM_EIO, NULL))
CALL(ftruncate, (int fd, off_t size), (fd, size), STRIKES_WRITING(NULL))
CALL(fsync, (int fd), (fd), STRIKES_WRITING(NULL))
CALL(fdatasync, (int fd), (fd), STRIKES_WRITING(NULL))
CALL(dup, (int fd), (fd), STRIKES(SHIM_EIO, NULL))
CALL(dup2, (int from, int to), (from, to), STRIKES(SHIM_EIO, NULL))
CALL(socketpair, (int domain, int type, int protocol, int out[2]), (domain, type, protocol, out), STRIKES(SHIM_EIO, NULL))
CALL(pipe, (int out[2]), (out), STRIKES(SHIM_EIO, NULL))
CALL(pipe2, (int out[2], int flags), (out, flags), STRIKES(SHIM_EIO, NULL))
CALL(poll, (struct pollfd * fds, nfds_t count, int milliseconds), (fds, count, milliseconds),
     (STRIKES(SHIM_EIO, NULL) || STRIKES(SHIM_EINTR, NULL)))
CALL(fork, (void), (), STRIKES(SHIM_EIO, NULL))
CALL(waitpid, (pid_t process, int *status, int options), (process, status, options), STRIKES(SHIM_EINTR, NULL))

off_t lseek(int fd, off_t offset, int whence)
{
    SHIM_REAL(lseek);
    return STRIKES(SHIM_EIO, NULL) ? -1 : real(fd, offset, whence);
}

char *realpath(const char *path, char *out)
{
    SHIM_REAL(realpath);
    return STRIKES(SHIM_EIO, path) ? NULL : real(path, out);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    SHIM_REAL(mmap);
    if (STRIKES(SHIM_EIO, NULL))
        return MAP_FAILED;
    void *mapping = real(at, size, protection, flags, fd, offset);
    if (mapping != MAP_FAILED && !(flags & MAP_FIXED) && shim_watches(SHIM_CALLER))
        shim_mapping_add(mapping);
    return mapping;
}

int munmap(void *mapping, size_t size)
{
    SHIM_REAL(munmap);
    shim_mapping_remove(mapping);
    return real(mapping, size);
}

/* --- descriptors ------------------------------------------------------------------------------------------------------------------ */

/* A call that moves bytes of one buffer and may move fewer. */
#define MOVE(name, parameters, arguments, strikes) \
    ssize_t name parameters                        \
    {                                              \
        SHIM_REAL(name);                           \
        if (strikes || STRIKES(SHIM_EINTR, NULL))  \
            return -1;                             \
        size = ONE_BYTE(size);                     \
        return real arguments;                     \
    }

MOVE(read, (int fd, void *data, size_t size), (fd, data, size), STRIKES(SHIM_EIO, NULL))
MOVE(pread, (int fd, void *data, size_t size, off_t offset), (fd, data, size, offset), STRIKES(SHIM_EIO, NULL))
MOVE(write, (int fd, const void *data, size_t size), (fd, data, size), (fd != STDERR_FILENO && STRIKES_WRITING(NULL)))
MOVE(pwrite, (int fd, const void *data, size_t size, off_t offset), (fd, data, size, offset), STRIKES_WRITING(NULL))
MOVE(recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags), STRIKES(SHIM_EIO, NULL))
MOVE(send, (int fd, const void *data, size_t size, int flags), (fd, data, size, flags), STRIKES(SHIM_EIO, NULL))

int close(int fd)
{
    SHIM_REAL(close);
    const bool strikes = STRIKES(SHIM_EIO, NULL);
    const int status = real(fd);
    if (strikes)
        errno = EIO;
    return strikes ? -1 : status;
}

/* --- streams ---------------------------------------------------------------------------------------------------------------------- */

size_t fread(void *data, size_t size, size_t count, FILE *stream)
{
    SHIM_REAL(fread);
    return STRIKES(SHIM_EIO, NULL) && mark(stream) ? 0 : real(data, size, count, stream);
}

char *fgets(char *line, int size, FILE *stream)
{
    SHIM_REAL(fgets);
    return STRIKES(SHIM_EIO, NULL) && mark(stream) ? NULL : real(line, size, stream);
}

int fgetc(FILE *stream)
{
    SHIM_REAL(fgetc);
    return STRIKES(SHIM_EIO, NULL) && mark(stream) ? EOF : real(stream);
}

int getc(FILE *stream)
{
    SHIM_REAL(getc);
    return STRIKES(SHIM_EIO, NULL) && mark(stream) ? EOF : real(stream);
}

ssize_t getline(char **line, size_t *room, FILE *stream)
{
    SHIM_REAL(getline);
    return STRIKES(SHIM_EIO, NULL) && mark(stream) ? -1 : real(line, room, stream);
}

ssize_t getdelim(char **line, size_t *room, int end, FILE *stream)
{
    SHIM_REAL(getdelim);
    return STRIKES(SHIM_EIO, NULL) && mark(stream) ? -1 : real(line, room, end, stream);
}

ssize_t __getdelim(char **line, size_t *room, int end, FILE *stream); /* what getline and getdelim become in the C library's headers */
ssize_t __getdelim(char **line, size_t *room, int end, FILE *stream)
{
    SHIM_REAL(__getdelim);
    return STRIKES(SHIM_EIO, NULL) && mark(stream) ? -1 : real(line, room, end, stream);
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *stream)
{
    SHIM_REAL(fwrite);
    return STRIKES_STREAM(stream) ? 0 : real(data, size, count, stream);
}

CALL(fputs, (const char *text, FILE *stream), (text, stream), STRIKES_STREAM(stream))
CALL(fputc, (int byte, FILE *stream), (byte, stream), STRIKES_STREAM(stream))
CALL(putc, (int byte, FILE *stream), (byte, stream), STRIKES_STREAM(stream))
CALL(puts, (const char *text), (text), STRIKES_STREAM(stdout))
CALL(putchar, (int byte), (byte), STRIKES_STREAM(stdout))
CALL(vfprintf, (FILE * stream, const char *format, va_list arguments), (stream, format, arguments), STRIKES_STREAM(stream))
CALL(fseeko, (FILE * stream, off_t offset, int whence), (stream, offset, whence), STRIKES(SHIM_EIO, NULL))
CALL(fseek, (FILE * stream, long offset, int whence), (stream, offset, whence), STRIKES(SHIM_EIO, NULL))

int printf(const char *format, ...)
{
    if (STRIKES_STREAM(stdout))
        return -1;
    va_list arguments;
    va_start(arguments, format);
    const int length = vfprintf(stdout, format, arguments);
    va_end(arguments);
    return length;
}

int fprintf(FILE *stream, const char *format, ...)
{
    if (STRIKES_STREAM(stream))
        return -1;
    va_list arguments;
    va_start(arguments, format);
    const int length = vfprintf(stream, format, arguments);
    va_end(arguments);
    return length;
}

/* Everything is written first: what fails is the news of it. */
int fflush(FILE *stream)
{
    SHIM_REAL(fflush);
    const bool strikes = stream && STRIKES_STREAM(stream);
    const int code = errno, status = real(stream);
    if (strikes)
        errno = code;
    return strikes ? EOF : status;
}

int fclose(FILE *stream)
{
    SHIM_REAL(fclose);
    const bool strikes = STRIKES(SHIM_EIO, NULL) || STRIKES(SHIM_ENOSPC, NULL);
    const int code = errno, status = real(stream);
    if (strikes)
        errno = code;
    return strikes ? EOF : status;
}
