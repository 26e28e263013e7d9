/* SPDX-License-Identifier: MIT */
/* One child per .icd file, each with a folder that holds that file alone. */
#include "jobs/platform_probe.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "clformer/device.h"
#include "process/child.h"

enum { MOST_FILES = 64, LIMIT_SECONDS = 10 };

/* How a child ends by itself. A driver may end it with any other status, 0 too. */
enum { NOT_LOADED = 111, LOADED = 112 };

typedef struct driver_file {
    char *path, *link; /* link: in a folder of its own below the temporary one */
    clfi_child child;
    bool is_late; /* it took too long */
    int result;   /* status of waitpid; -1: it was collected elsewhere, so nothing is known, and the library counts as good */
} driver_file;

/* Reads the library that an .icd file names in its first line; "" if the file cannot be read. */
static void read_library(const char *path, char *out, int size)
{
    FILE *stream = fopen(path, "r");
    if (!stream || !fgets(out, size, stream))
        out[0] = '\0';
    out[strcspn(out, "\r\n")] = '\0';
    if (stream)
        fclose(stream);
}

/* Runs in the child. It also loads the library itself, because loaders silently skip one that they cannot load. user: two texts, the folder
 * and the file. */
static void enumerate(int socket, const void *user)
{
    const char *const *texts = user, *folder = texts[0], *path = texts[1];
    char library[PATH_MAX];
    clf_device_list *list;
    const int null = open("/dev/null", O_RDWR);
    (void)socket;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setenv("OCL_ICD_VENDORS", folder, 1);
    if (clf_device_list_create(&list) == CLF_OK) /* an error is no crash: the program's own list reports it */
        clf_device_list_destroy(list);
    read_library(path, library, sizeof library);
    if (library[0] && !dlopen(library, RTLD_LAZY))
        _exit(NOT_LOADED);
    _exit(LOADED); /* without the drivers' own destructors */
}

/* Links ROOT/NUMBER/FILE.icd to the file and starts its child, which sees ROOT/NUMBER only. */
static clf_status start(driver_file *file, const char *root, size_t number)
{
    char name[24];
    char *folder = NULL, *target = NULL;
    clf_status st;
    const char *slash = strrchr(file->path, '/');
    snprintf(name, sizeof name, "%zu", number);
    CLF_GOTO(clfi_path_join(root, name, &folder));
    CLF_GOTO(clfi_path_join(folder, slash + 1, &file->link));
    target = realpath(file->path, NULL);
    if (mkdir(folder, 0700) != 0 || (target && symlink(target, file->link) != 0)) {
        st = clfi_fail_errno("create", folder);
        goto done;
    }
    st = clfi_child_fork(enumerate, (const char *const[]){folder, file->path}, &file->child);
    if (st != CLF_OK)
        st = clfi_fail_prefix(st, "%s", file->path);
done:
    free(folder);
    free(target);
    return st;
}

static void wait_for_all(driver_file *files, size_t count)
{
    const uint64_t end = clfi_now_ns() + LIMIT_SECONDS * UINT64_C(1000000000);
    for (size_t left = count; left > 0;) {
        left = 0;
        const bool is_late = clfi_now_ns() > end;
        for (size_t i = 0; i < count; i++) {
            clfi_child *child = &files[i].child;
            if (child->process && !clfi_child_has_ended(child, &files[i].result) && is_late) {
                files[i].is_late = true;
                clfi_child_stop(child);
            }
            left += child->process != 0;
        }
        if (left)
            nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
}

static bool is_broken(const driver_file *file)
{
    return file->is_late || (file->result != -1 && (!WIFEXITED(file->result) || WEXITSTATUS(file->result) != LOADED));
}

static clf_status tell(const driver_file *file, clf_str *notes)
{
    if (file->is_late)
        return clfi_str_appendf(notes, "%s: its library hangs (more than %d s); left out\n", file->path, LIMIT_SECONDS);
    if (WIFSIGNALED(file->result))
        return clfi_str_appendf(notes, "%s: its library crashes (%s); left out\n", file->path, strsignal(WTERMSIG(file->result)));
    if (WEXITSTATUS(file->result) == NOT_LOADED) {
        char library[PATH_MAX];
        read_library(file->path, library, sizeof library);
        return clfi_str_appendf(notes, "%s: its library %s cannot be loaded (ldd shows what it lacks); left out\n", file->path, library);
    }
    return clfi_str_appendf(notes, "%s: its library ends the program (status %d); left out\n", file->path, WEXITSTATUS(file->result));
}

static bool is_icd(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".icd") == 0;
}

/* Finds the paths of *.icd in a folder, in the order of their names; `folder` may also be one such file. A folder that cannot be read has
 * none: the loader finds none there either. */
static clf_status find_files(const char *folder, driver_file *files, size_t *count)
{
    struct dirent **names;
    struct stat info;
    clf_status st = CLF_OK;
    if (is_icd(folder) && stat(folder, &info) == 0 && S_ISREG(info.st_mode)) {
        clf_str path = CLF_STR_INIT;
        st = clfi_str_appendf(&path, "%s%s", strchr(folder, '/') ? "" : "./", folder);
        if (st == CLF_OK)
            files[(*count)++].path = path.data;
        return st;
    }
    const int found = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < found; i++) {
        if (st == CLF_OK && *count < MOST_FILES && is_icd(names[i]->d_name))
            st = clfi_path_join(folder, names[i]->d_name, &files[(*count)++].path);
        free(names[i]);
    }
    if (found >= 0)
        free(names);
    return st;
}

/* Moves the links to all libraries that work into ROOT, and makes it the folder of the loader. */
static clf_status keep_others(const driver_file *files, size_t count, const char *root)
{
    for (size_t i = 0; i < count; i++) {
        char *link = NULL;
        if (is_broken(&files[i]))
            continue;
        CLF_TRY(clfi_path_join(root, strrchr(files[i].path, '/') + 1, &link));
        const clf_status st = rename(files[i].link, link) == 0 || errno == ENOENT ? CLF_OK : clfi_fail_errno("move", files[i].link);
        free(link);
        CLF_TRY(st);
    }
    setenv("OCL_ICD_VENDORS", root, 1);
    return CLF_OK;
}

static clf_status probe_all(driver_file *files, size_t count, char *root, clf_str *notes, size_t *broken)
{
    clf_status st = CLF_OK;
    for (size_t i = 0; i < count && st == CLF_OK; i++)
        st = start(&files[i], root, i);
    wait_for_all(files, count);
    for (size_t i = 0; i < count && st == CLF_OK; i++)
        if (is_broken(&files[i])) {
            st = tell(&files[i], notes);
            ++*broken;
        }
    return st == CLF_OK && *broken ? keep_others(files, count, root) : st;
}

clf_status cli_platforms_probe(clf_str *notes, char **folder)
{
    const char *given = getenv("OCL_ICD_VENDORS");
    driver_file files[MOST_FILES] = {0};
    size_t count = 0, broken = 0;
    char *root = NULL;
    clf_status st = find_files(given && *given ? given : "/etc/OpenCL/vendors", files, &count);
    *folder = NULL;
    if (st == CLF_OK && count) {
        st = clfi_temporary_directory("clformer", &root);
        if (st == CLF_OK)
            st = probe_all(files, count, root, notes, &broken);
        else if (st != CLF_OUT_OF_MEMORY)
            st = CLF_OK; /* nothing can be tried without a folder, but devices can be listed */
    }
    for (size_t i = 0; i < count; i++) {
        if (files[i].link) {
            char *slash = strrchr(files[i].link, '/');
            unlink(files[i].link);
            *slash = '\0';
            rmdir(files[i].link);
        }
        free(files[i].link);
        free(files[i].path);
    }
    if (broken && st == CLF_OK)
        *folder = root;
    else
        cli_platforms_release(root);
    return st;
}

void cli_platforms_release(char *folder)
{
    driver_file files[MOST_FILES] = {0};
    size_t count = 0;
    if (!folder)
        return;
    (void)!find_files(folder, files, &count);
    for (size_t i = 0; i < count; i++) {
        if (files[i].path)
            unlink(files[i].path);
        free(files[i].path);
    }
    rmdir(folder);
    free(folder);
}
