/* SPDX-License-Identifier: MIT */
/* Writing files: a temporary file beside the destination, renamed over it when it is complete; pipes and devices directly. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/output_place.h"

enum { DESCRIPTOR_PATH_BYTES = 32, MOST_NAMED = 16 };

static const clf_atomic_file no_file = {.sink = -1};

/* Temporary names that are in use, for a signal handler, and the process that owns them: its children inherit the table. */
static _Atomic(const char *) named[MOST_NAMED];
static atomic_int owner;

static void remember(const char *temporary)
{
    atomic_store(&owner, (int)getpid());
    for (size_t i = 0; i < MOST_NAMED; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&named[i], &none, temporary))
            return;
    }
}

static void forget(const char *temporary)
{
    for (size_t i = 0; temporary && i < MOST_NAMED; i++) {
        const char *own = temporary;
        if (atomic_compare_exchange_strong(&named[i], &own, NULL))
            return;
    }
}

void clfi_atomic_remove_named(void)
{
    for (size_t i = 0; i < MOST_NAMED && atomic_load(&owner) == (int)getpid(); i++) {
        const char *temporary = atomic_load(&named[i]);
        if (temporary)
            unlink(temporary);
    }
}

static const char *descriptor_path(int fd, char out[DESCRIPTOR_PATH_BYTES])
{
    snprintf(out, DESCRIPTOR_PATH_BYTES, "/proc/self/fd/%d", fd);
    return out;
}

/* A file without a name in the directory of path, which leaves nothing behind if the process is ended; -1 where the system has none. */
static int open_nameless(const char *path, mode_t mode)
{
#ifdef O_TMPFILE
    char *directory;
    if (clfi_path_directory(path, &directory) != CLF_OK)
        return -1;
    const int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    free(directory);
    return fd;
#else
    (void)path;
    (void)mode;
    return -1;
#endif
}

/* open_nameless for a file that gets a name later. That takes /proc: -1 without it. */
static int open_yet_nameless(const char *path)
{
    char self[DESCRIPTOR_PATH_BYTES];
    const int fd = open_nameless(path, 0666);
    if (fd < 0 || access(descriptor_path(fd, self), F_OK) == 0)
        return fd;
    close(fd);
    return -1;
}

clf_status clfi_spool_open(const char *path, int *out)
{
    clf_str name = CLF_STR_INIT;
    int fd = open_nameless(path, 0600);
    clf_status st = fd < 0 ? clfi_str_appendf(&name, "%s.XXXXXX", path) : CLF_OK;
    if (st == CLF_OK && fd < 0) {
        if ((fd = mkstemp(name.data)) < 0)
            st = clfi_fail_errno("create", path);
        else
            unlink(name.data);
    }
    clfi_str_free(&name);
    *out = fd;
    return st;
}

/* Gives the file that `from` leads to a further name that no file has. `template` is like mkstemp's, and gets the name. */
static bool give_name(const char *from, char *template)
{
    char *end = template + strlen(template) - 6;
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        const unsigned long number = (unsigned long)getpid() * 1000 + attempt;
        snprintf(end, 7, "%06lx", number & 0xffffff);
        if (linkat(AT_FDCWD, from, AT_FDCWD, template, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* Gives the new file the mode and the owner of the one that it replaces. If it cannot get the old group, its group gets the rights that all
 * users have. */
static void keep_mode(int fd, const struct stat *old)
{
    struct stat fresh;
    mode_t mode = old->st_mode & 07777;
    if (fstat(fd, &fresh) != 0)
        return;
    if ((fresh.st_uid != old->st_uid || fresh.st_gid != old->st_gid) && fchown(fd, old->st_uid, old->st_gid) != 0 &&
        fchown(fd, (uid_t)-1, old->st_gid) != 0)
        mode = (mode & 0707) | ((mode & 07) << 3);
    fchmod(fd, mode);
}

static int create_temporary(const clf_output_state *at, clf_atomic_file *file)
{
    if (at->exists && access(at->target, W_OK) != 0) /* a rename would check the rights of the directory only */
        return -1;
    int fd = at->needs_name ? -1 : open_yet_nameless(file->target);
    file->is_nameless = fd >= 0;
    if (fd < 0 && (fd = mkstemp(file->temporary)) >= 0) {
        remember(file->temporary);
        const mode_t mask = umask(0);
        umask(mask);
        fchmod(fd, 0666 & ~mask);
    }
    if (fd >= 0 && at->exists)
        keep_mode(fd, &at->info);
    return fd;
}

static clf_status open_file(const clf_output_state *at, clf_atomic_file *file)
{
    clf_str name = CLF_STR_INIT;
    CLF_TRY(clfi_strdup(at->target, &file->target));
    const clf_status st = clfi_str_appendf(&name, "%s.XXXXXX", at->target);
    file->temporary = name.data;
    CLF_TRY(st);
    const int fd = create_temporary(at, file);
    if (fd < 0)
        return clfi_fail_errno("create", file->path);
    file->stream = fdopen(fd, "wb");
    if (file->stream)
        return CLF_OK;
    const clf_status failed = clfi_fail_errno("open", file->path);
    close(fd);
    if (!file->is_nameless)
        unlink(file->temporary);
    return failed;
}

static clf_status open_stream(const clf_output_state *at, bool seeks, clf_atomic_file *file)
{
    const int fd = at->is_standard_output ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return clfi_fail_errno("open", file->path);
    file->stream = seeks ? tmpfile() : fdopen(fd, "wb");
    if (!file->stream) {
        const clf_status st = clfi_fail_errno(seeks ? "temporary file for" : "open", file->path);
        close(fd);
        return st;
    }
    file->sink = seeks ? fd : -1;
    return CLF_OK;
}

static void release(clf_atomic_file *file)
{
    forget(file->temporary);
    free(file->path);
    free(file->target);
    free(file->temporary);
    *file = no_file;
}

static clf_status open_place(const char *path, const clf_output_state *at, bool seeks, clf_atomic_file *out)
{
    clf_atomic_file file = no_file;
    clf_status st = clfi_strdup(path, &file.path);
    if (st == CLF_OK)
        st = at->is_stream ? open_stream(at, seeks, &file) : open_file(at, &file);
    if (st != CLF_OK) {
        release(&file);
        return st;
    }
    *out = file;
    return CLF_OK;
}

clf_status clfi_output_open(const char *path, bool seeks, clf_atomic_file *out)
{
    clf_output_state at;
    CLF_TRY(clfi_output_look(path, &at));
    const clf_status st = open_place(path, &at, seeks, out);
    free(at.target);
    return st;
}

static clf_status open_atomic(const char *path, bool needs_name, clf_atomic_file *out)
{
    clf_output_state at;
    CLF_TRY(clfi_output_look(path, &at));
    at.needs_name = needs_name;
    if (at.is_stream && at.exists && S_ISREG(at.info.st_mode)) { /* standard output's file is a file like others here */
        at.is_stream = false;
        CLF_TRY(clfi_path_follow(path, &at.target));
    }
    const clf_status st = at.is_stream ? clfi_output_refuse_stream(path) : open_place(path, &at, true, out);
    free(at.target);
    return st;
}

clf_status clfi_atomic_open(const char *path, clf_atomic_file *out)
{
    return open_atomic(path, false, out);
}

clf_status clfi_atomic_open_named(const char *path, clf_atomic_file *out)
{
    return open_atomic(path, true, out);
}

bool clfi_atomic_write(clf_atomic_file *file, const void *data, size_t size)
{
    if (size && fwrite(data, 1, size, file->stream) != size && !file->fault)
        file->fault = errno;
    return !file->fault;
}

bool clfi_atomic_printf(clf_atomic_file *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (vfprintf(file->stream, format, arguments) < 0 && !file->fault)
        file->fault = errno;
    va_end(arguments);
    return !file->fault;
}

/* Whether everything got out of the stream's buffer; else errno is that of the first failure, whatever was called since. */
static bool is_flushed(const clf_atomic_file *file)
{
    if (!file->fault && !ferror(file->stream))
        return fflush(file->stream) == 0;
    errno = file->fault ? file->fault : EIO;
    return false;
}

/* All bytes of the file to the pipe or device. */
static bool pour(FILE *from, int to)
{
    char chunk[65536];
    size_t got;
    if (fseeko(from, 0, SEEK_SET) != 0)
        return false;
    while ((got = fread(chunk, 1, sizeof chunk, from)) > 0)
        for (size_t done = 0; done < got;) {
            const ssize_t written = write(to, chunk + done, got - done);
            if (written < 0 && errno != EINTR)
                return false;
            done += written > 0 ? (size_t)written : 0;
        }
    return !ferror(from);
}

/* All bytes to the pipe or device, which is closed. */
static clf_status complete_stream(clf_atomic_file *file)
{
    clf_status st = CLF_OK;
    if (!is_flushed(file) || (file->sink >= 0 && !pour(file->stream, file->sink)))
        st = clfi_fail_errno("write", file->path);
    if (file->sink >= 0 && close(file->sink) != 0 && st == CLF_OK)
        st = clfi_fail_errno("write", file->path);
    if (fclose(file->stream) != 0 && st == CLF_OK)
        st = clfi_fail_errno("write", file->path);
    return st;
}

/* Some file systems cannot sync, and say so. */
static bool sync_file(const clf_atomic_file *file)
{
    return file->is_expendable || fsync(fileno(file->stream)) == 0 || errno == EINVAL || errno == ENOSYS;
}

clf_status clfi_atomic_complete(clf_atomic_file *file)
{
    clf_status st = CLF_OK;
    if (file->is_complete || !file->stream)
        return CLF_OK;
    if (!file->target) {
        st = complete_stream(file);
        file->stream = NULL;
        file->sink = -1;
    } else if (!is_flushed(file) || !sync_file(file)) {
        st = clfi_fail_errno("write", file->path);
    }
    file->is_complete = st == CLF_OK;
    if (st != CLF_OK)
        clfi_atomic_abandon(file);
    return st;
}

/* Gives a complete file its temporary name, if it has none yet, and closes it. */
static clf_status take_name(clf_atomic_file *file)
{
    char self[DESCRIPTOR_PATH_BYTES];
    if (!file->target)
        return CLF_OK;
    if (file->is_nameless && give_name(descriptor_path(fileno(file->stream), self), file->temporary)) {
        file->is_nameless = false;
        remember(file->temporary);
    }
    clf_status st = file->is_nameless ? clfi_fail_errno("write", file->path) : CLF_OK;
    if (fclose(file->stream) != 0 && st == CLF_OK)
        st = clfi_fail_errno("write", file->path);
    file->stream = NULL;
    if (st != CLF_OK)
        clfi_atomic_abandon(file);
    return st;
}

/* Renames a complete output from its temporary name. A pipe or device has got all bytes already. */
static clf_status rename_one(const clf_atomic_file *file)
{
    if (!file->target || rename(file->temporary, file->target) == 0)
        return CLF_OK;
    const clf_status st = clfi_fail_errno("rename to", file->path);
    unlink(file->temporary);
    return st;
}

clf_status clfi_atomic_commit(clf_atomic_file *file)
{
    clf_status st = clfi_atomic_complete(file);
    if (st == CLF_OK)
        st = take_name(file);
    if (st == CLF_OK)
        st = rename_one(file);
    release(file);
    return st;
}

/* Gives the file a second name, or if the file system has no hard links another one (*out_moved). `template` is like mkstemp's, and gets
 * the name. */
static bool set_aside(const char *path, char *template, bool *out_moved)
{
    *out_moved = !give_name(path, template);
    if (!*out_moved)
        return true;
    memcpy(template + strlen(template) - 6, "XXXXXX", 6);
    const int fd = mkstemp(template);
    if (fd < 0)
        return false;
    close(fd);
    if (rename(path, template) == 0)
        return true;
    const int fault = errno;
    unlink(template);
    errno = fault;
    return false;
}

/* Gives the old file its name again, or removes the new one if there was none (kept NULL). Returns `st`; if the old file cannot be renamed,
 * the message also says where it is. */
static clf_status undo_first(const clf_atomic_file *file, const char *kept, clf_status st)
{
    if (kept && rename(kept, file->target) != 0)
        return clfi_fail(st, "%s; the old %s is now %s", clf_last_error(), file->path, kept);
    if (!kept)
        unlink(file->target);
    return st;
}

/* Renames the temporary file to its target. *out_kept: another name of the file that it replaced; NULL: there was none. Without an exchange
 * of names the old file is set aside as `template`. A folder at the target is refused, because it could be exchanged or set aside too. */
static clf_status rename_first(const clf_atomic_file *file, char *template, const char **out_kept)
{
    bool is_folder, is_moved = false;
    const bool may_keep = clfi_directory_exists(file->target, &is_folder) == CLF_OK && !is_folder;
    *out_kept = NULL;
    forget(file->temporary); /* a signal must not remove the old file, which gets this name */
    if (may_keep && renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->target, RENAME_EXCHANGE) == 0) {
        *out_kept = file->temporary;
        return CLF_OK;
    }
    if (may_keep && access(file->target, F_OK) == 0) {
        if (!set_aside(file->target, template, &is_moved))
            return clfi_fail_errno("rename", file->path);
        *out_kept = template;
    }
    if (rename(file->temporary, file->target) == 0)
        return CLF_OK;
    const clf_status st = clfi_fail_errno("rename to", file->path);
    if (is_moved)
        return undo_first(file, template, st);
    if (*out_kept)
        unlink(template);
    return st;
}

static clf_status rename_both(const clf_atomic_file *file, const clf_atomic_file *beside)
{
    clf_str template = CLF_STR_INIT;
    const char *kept;
    clf_status st = clfi_str_appendf(&template, "%s.XXXXXX", beside->target);
    if (st == CLF_OK)
        st = rename_first(beside, template.data, &kept);
    if (st != CLF_OK)
        unlink(beside->temporary);
    else if (rename(file->temporary, file->target) != 0)
        st = undo_first(beside, kept, clfi_fail_errno("rename to", file->path));
    else if (kept)
        unlink(kept);
    if (st != CLF_OK)
        unlink(file->temporary);
    clfi_str_free(&template);
    return st;
}

clf_status clfi_atomic_commit_pair(clf_atomic_file *file, clf_atomic_file *beside)
{
    clf_atomic_file *first = beside->target ? beside : file, *second = beside->target ? file : beside; /* files before pipes */
    clf_status st = clfi_atomic_complete(first);
    if (st == CLF_OK)
        st = clfi_atomic_complete(second);
    if (st == CLF_OK)
        st = take_name(first);
    if (st == CLF_OK)
        st = take_name(second);
    if (st != CLF_OK) {
        clfi_atomic_abandon(first);
        clfi_atomic_abandon(second);
        return st;
    }
    st = first->target && second->target ? rename_both(file, beside) : rename_one(first);
    release(file);
    release(beside);
    return st;
}

void clfi_atomic_abandon(clf_atomic_file *file)
{
    if (!file->path)
        return;
    if (file->stream)
        fclose(file->stream);
    if (file->sink >= 0)
        close(file->sink);
    if (file->target && !file->is_nameless)
        unlink(file->temporary);
    release(file);
}

clf_status clfi_output_write(const char *path, const void *data, size_t size)
{
    clf_atomic_file file;
    CLF_TRY(clfi_output_open(path, false, &file));
    clfi_atomic_write(&file, data, size);
    return clfi_atomic_commit(&file);
}

clf_status clfi_file_write(const char *path, const void *data, size_t size)
{
    clf_atomic_file file;
    CLF_TRY(clfi_atomic_open(path, &file));
    clfi_atomic_write(&file, data, size);
    return clfi_atomic_commit(&file);
}
