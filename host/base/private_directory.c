/* SPDX-License-Identifier: MIT */
/* Private directories through POSIX: owners and modes of the path, openat for the files. */
#include "base/private_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

enum { OTHERS_WRITE = S_IWGRP | S_IWOTH, STALE_SECONDS = 60 };

/* Whether the group is the user's private group, of the same name and with no other members, as many systems make it. Its right to write is
 * then the user's own. */
static bool is_own_group(gid_t gid)
{
    char user_text[4096], group_text[4096];
    struct passwd user, *user_found = NULL;
    struct group group, *group_found = NULL;
    if (getpwuid_r(geteuid(), &user, user_text, sizeof user_text, &user_found) != 0 || !user_found ||
        getgrgid_r(gid, &group, group_text, sizeof group_text, &group_found) != 0 || !group_found)
        return false;
    bool is_own = user.pw_gid == gid && strcmp(user.pw_name, group.gr_name) == 0;
    for (char **member = group.gr_mem; is_own && *member; member++)
        is_own = strcmp(*member, user.pw_name) == 0;
    return is_own;
}

static bool others_write(const struct stat *info)
{
    return (info->st_mode & S_IWOTH) || ((info->st_mode & S_IWGRP) && !is_own_group(info->st_gid));
}

/* Whoever may write to a parent can replace what is in it, unless it is sticky. */
static clf_status check_parents(const clf_private_directory *directory, struct stat below)
{
    clf_str up = CLF_STR_INIT;
    struct stat info;
    clf_status st;
    for (;;) {
        CLF_GOTO(clfi_str_append_text(&up, up.length ? "/.." : ".."));
        if (fstatat(directory->descriptor, up.data, &info, 0) != 0)
            CLF_GOTO(clfi_fail_errno("look at the parents of", directory->path));
        if (info.st_dev == below.st_dev && info.st_ino == below.st_ino)
            break;
        if (info.st_uid != geteuid() && info.st_uid != 0)
            CLF_GOTO(clfi_fail(CLF_IO, "%s/%s belongs to another user", directory->path, up.data));
        if (!(info.st_mode & S_ISVTX) && others_write(&info))
            CLF_GOTO(clfi_fail(CLF_IO, "%s/%s can be written by other users", directory->path, up.data));
        below = info;
    }
done:
    clfi_str_free(&up);
    return st;
}

static clf_status open_checked(clf_private_directory *directory)
{
    struct stat info;
    directory->descriptor = open(directory->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory->descriptor < 0 || fstat(directory->descriptor, &info) != 0)
        return clfi_fail_errno("open", directory->path);
    if (info.st_uid != geteuid())
        CLF_FAIL(CLF_IO, "%s belongs to another user", directory->path);
    if (others_write(&info))
        CLF_FAIL(CLF_IO, "%s can be written by other users", directory->path);
    return check_parents(directory, info);
}

clf_status clfi_private_directory_open(const char *path, clf_private_directory **out)
{
    clf_private_directory *directory;
    CLF_TRY(clfi_make_directories(path));
    CLF_TRY(clfi_alloc(1, sizeof *directory, "private directory", &directory));
    directory->descriptor = -1;
    clf_status st = clfi_path_absolute(path, &directory->path);
    if (st == CLF_OK)
        st = open_checked(directory);
    if (st != CLF_OK) {
        clfi_private_directory_close(directory);
        return st;
    }
    *out = directory;
    return CLF_OK;
}

void clfi_private_directory_close(clf_private_directory *directory)
{
    if (!directory)
        return;
    if (directory->descriptor >= 0)
        close(directory->descriptor);
    free(directory->path);
    free(directory);
}

clf_status clfi_private_directory_read(const clf_private_directory *directory, const char *name, size_t limit, clf_str *out)
{
    struct stat info;
    const int fd = openat(directory->descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); /* a pipe would wait for a writer */
    if (fd < 0)
        return clfi_fail_errno("open", name);
    clf_status st;
    if (fstat(fd, &info) != 0)
        st = clfi_fail_errno("stat", name);
    else if (!S_ISREG(info.st_mode))
        st = clfi_fail(CLF_IO, "%s/%s: not a regular file", directory->path, name);
    else if (info.st_uid != geteuid())
        st = clfi_fail(CLF_IO, "%s/%s belongs to another user", directory->path, name);
    else if (info.st_mode & OTHERS_WRITE)
        st = clfi_fail(CLF_IO, "%s/%s can be written by other users", directory->path, name);
    else
        st = clfi_descriptor_read(fd, name, limit, out);
    close(fd);
    return st;
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size) {
        const ssize_t written = write(fd, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        data += written;
        size -= (size_t)written;
    }
    return true;
}

/* A process that was killed between two calls may have left this name, which would be in the way. */
static void remove_stale(int directory, const char *name)
{
    struct stat info;
    if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && time(NULL) - info.st_mtime > STALE_SECONDS)
        unlinkat(directory, name, 0);
}

clf_status clfi_private_directory_write(const clf_private_directory *directory, const char *name, const void *data, size_t size)
{
    const int at = directory->descriptor;
    char self[40];
    clf_str temporary = CLF_STR_INIT;
    CLF_TRY(clfi_str_appendf(&temporary, "%s.new", name));
    remove_stale(at, temporary.data);
#ifdef O_TMPFILE
    int fd = openat(at, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600); /* leaves nothing behind if the process is ended */
#else
    int fd = -1;
#endif
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (fd >= 0 && access(self, F_OK) != 0) { /* without /proc it could never get a name */
        close(fd);
        fd = -1;
    }
    bool has_name = fd < 0;
    if (has_name)
        fd = openat(at, temporary.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_done = fd >= 0 && write_all(fd, data, size);
    const bool is_there = is_done && !has_name && linkat(AT_FDCWD, self, at, name, AT_SYMLINK_FOLLOW) == 0; /* fails if the name exists */
    if (is_done && !is_there && !has_name)
        is_done = has_name = linkat(AT_FDCWD, self, at, temporary.data, AT_SYMLINK_FOLLOW) == 0;
    is_done = is_there || (is_done && renameat(at, temporary.data, at, name) == 0);
    const clf_status st = is_done ? CLF_OK : clfi_fail_errno("write", name);
    if (!is_done && has_name && fd >= 0)
        unlinkat(at, temporary.data, 0);
    if (fd >= 0)
        close(fd);
    clfi_str_free(&temporary);
    return st;
}
