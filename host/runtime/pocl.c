/* SPDX-License-Identifier: MIT */
/* Chooses a cache directory that PoCL can write, and checks that PoCL finds a linker. Both searches follow PoCL 3.1 and clang's driver. */
#include "runtime/pocl.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/private_directory.h"

static char trouble[512]; /* why PoCL cannot write its cache; "": it can */

/* Whether a directory with this path exists or can be made, and files can be made in it. *reason if not: the errno. */
static bool can_hold_files(const char *path, int *reason)
{
    char probe[PATH_MAX + 32], *slash;
    if ((size_t)snprintf(probe, PATH_MAX, "%s", path) >= PATH_MAX) {
        *reason = ENAMETOOLONG;
        return false;
    }
    if (access(probe, F_OK) == 0) {
        const bool can_write = access(probe, W_OK | X_OK) == 0;
        *reason = errno;
        return can_write;
    }
    while (access(probe, F_OK) != 0 && errno == ENOENT && (slash = strrchr(probe, '/')) != NULL && slash != probe)
        *slash = '\0'; /* shortens the path to the part that exists */
    strcat(probe, "/.clformer-XXXXXX");
    const bool can = mkdtemp(probe) != NULL;
    *reason = errno;
    if (can)
        rmdir(probe);
    return can;
}

/* out: the user's directory in which PoCL keeps kernels by default. Returns false if neither XDG_CACHE_HOME nor HOME is set, or if the path
 * is too long. */
static bool default_cache(char out[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0])
        return snprintf(out, PATH_MAX, "%s/pocl/kcache", cache) < PATH_MAX;
    return home && home[0] && snprintf(out, PATH_MAX, "%s/.cache/pocl/kcache", home) < PATH_MAX;
}

static clf_status make_private(clf_str *path)
{
    const char *parent = getenv("TMPDIR");
    clf_private_directory *directory;
    CLF_TRY(clfi_str_appendf(path, "%s/clformer-%lu", parent && parent[0] ? parent : "/tmp", (unsigned long)geteuid()));
    CLF_TRY(clfi_private_directory_open(path->data, &directory));
    clfi_private_directory_close(directory);
    CLF_TRY(clfi_str_append_text(path, "/pocl"));
    CLF_TRY(clfi_private_directory_open(path->data, &directory));
    clfi_private_directory_close(directory);
    return CLF_OK;
}

static void choose_cache(void)
{
    const char *given = getenv("POCL_CACHE_DIR");
    char path[PATH_MAX] = "";
    clf_str private = CLF_STR_INIT;
    int reason = 0;
    if (given && given[0]) {
        if (!can_hold_files(given, &reason))
            snprintf(trouble, sizeof trouble, "PoCL cannot write its kernel cache: POCL_CACHE_DIR %s: %s", given, strerror(reason));
        return;
    }
    const bool has_default = default_cache(path);
    if (has_default && can_hold_files(path, &reason))
        return;
    if (make_private(&private) == CLF_OK)
        setenv("POCL_CACHE_DIR", private.data, 1);
    else
        snprintf(trouble, sizeof trouble,
                 "PoCL cannot write its kernel cache: %s%s%s; %s (set POCL_CACHE_DIR to a folder that can be written)",
                 has_default ? path : "HOME is not set", has_default ? ": " : "", has_default ? strerror(reason) : "", clf_last_error());
    clfi_str_free(&private);
}

/* Makes a relative path in a variable absolute, because drivers and child processes read it again after the caller may have changed its
 * working directory. */
static void make_absolute(const char *variable)
{
    const char *given = getenv(variable);
    char *path;
    if (given && given[0] && given[0] != '/' && clfi_path_absolute(given, &path) == CLF_OK) {
        setenv(variable, path, 1);
        free(path);
    }
}

void clfi_pocl_prepare(void)
{
    const char *vendors = getenv("OCL_ICD_VENDORS");
    setenv("POCL_AFFINITY", "1", 0);
    if (vendors && access(vendors, F_OK) == 0) /* else it may be the name of a library */
        make_absolute("OCL_ICD_VENDORS");
    make_absolute("POCL_CACHE_DIR");
    choose_cache();
}

const char *clfi_pocl_cache_trouble(void)
{
    return trouble;
}

/* Whether a directory of PATH has the program. */
static bool is_in_path(const char *name)
{
    char file[PATH_MAX];
    for (const char *at = getenv("PATH"); at && *at;) {
        const int length = (int)strcspn(at, ":");
        if (length && snprintf(file, sizeof file, "%.*s/%s", length, at, name) < PATH_MAX && access(file, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

const char *clfi_pocl_link_trouble(void)
{
    static const char *const beside_compilers[] = {"/usr/lib/llvm-*/bin/ld", "/usr/*-linux-*/bin/ld"};
    glob_t found = {0};
    bool has_linker = is_in_path("ld");
    for (size_t i = 0; !has_linker && i < sizeof beside_compilers / sizeof beside_compilers[0]; i++) {
        has_linker = glob(beside_compilers[i], 0, NULL, &found) == 0;
        globfree(&found);
    }
    return has_linker ? "" : "PoCL needs the linker ld, which is not in PATH (install binutils)";
}
