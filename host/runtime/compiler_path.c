/* SPDX-License-Identifier: MIT */
/* Looking for clformer-compile. */
#include "runtime/compiler_path.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"

/* From the folder of the library or of the executable. The last one is for libraries in lib/<architecture>. */
static const char *const places[] = {"clformer-compile", "../libexec/clformer/clformer-compile", "../../libexec/clformer/clformer-compile"};

static clf_status try_path(const char *path, char **out)
{
    return access(path, X_OK) == 0 ? clfi_strdup(path, out) : CLF_OK;
}

/* Beside `file`, whose links are resolved. */
static clf_status find_near(const char *file, char **out)
{
    char resolved[PATH_MAX];
    clf_str path = CLF_STR_INIT;
    clf_status st = CLF_OK;
    if (!strchr(file, '/') || !realpath(file, resolved)) /* a name alone was looked up in $PATH */
        return CLF_OK;
    strrchr(resolved, '/')[1] = '\0';
    for (size_t i = 0; st == CLF_OK && !*out && i < COUNT(places); i++) {
        clfi_str_clear(&path);
        st = clfi_str_appendf(&path, "%s%s", resolved, places[i]);
        if (st == CLF_OK)
            st = try_path(path.data, out);
    }
    clfi_str_free(&path);
    return st;
}

clf_status clfi_compiler_path(const char *given, char **out)
{
    static const char here;
    Dl_info library;
    *out = NULL;
    if (given)
        return given[0] ? try_path(given, out) : CLF_OK;
    if (dladdr(&here, &library) && library.dli_fname)
        CLF_TRY(find_near(library.dli_fname, out));
    if (!*out)
        CLF_TRY(find_near("/proc/self/exe", out));
    return *out ? CLF_OK : try_path(CLF_COMPILER_PATH, out);
}
