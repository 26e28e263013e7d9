/* SPDX-License-Identifier: MIT */
/* Finds clformer-compile, and starts, keeps and ends the compiling processes of a pool. */
#include "runtime/compiler_pool.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"

#define DEFAULT_SECONDS 120.0
#define MOST_SECONDS 86400.0

/* Paths relative to the folder of the library or of the executable. The last one is for libraries in lib/<architecture>. */
static const char *const places[] = {"clformer-compile", "../libexec/clformer/clformer-compile", "../../libexec/clformer/clformer-compile"};

static clf_status try_path(const char *path, char **out)
{
    return access(path, X_OK) == 0 ? clfi_path_absolute(path, out) : CLF_OK;
}

/* Looks at `places` relative to the folder of `file`, after its links are resolved. */
static clf_status find_near(const char *file, char **out)
{
    char resolved[PATH_MAX];
    clf_str path = CLF_STR_INIT;
    clf_status st = CLF_OK;
    if (!strchr(file, '/') || !realpath(file, resolved)) /* a bare name was found by $PATH */
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

/* Finds the program: `given` ($CLF_COMPILER) if it is not NULL. Otherwise the file beside the library or the executable, or in the libexec
 * folder of their installation. *out: the caller frees it; NULL: there is none, or `given` is "". */
static clf_status compiler_path(const char *given, char **out)
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

/* The compiling process that a destroyed pool leaves for the next pool of this process. A forked child (another owner) starts its own. */
static struct {
    pthread_mutex_t lock;
    pid_t owner;
    char *path;
    clf_compiler compiler;
} left = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void end_left(void)
{
    if (left.owner == getpid())
        clfi_compiler_stop(&left.compiler, NULL);
    free(left.path);
    left.path = NULL;
    left.owner = 0;
}

/* Moves a pool's first process and its path into `left`. */
static void leave(clf_compiler_pool *pool)
{
    if (!pool->list[0].child.process || pool->is_off)
        return;
    pthread_mutex_lock(&left.lock);
    end_left();
    left.owner = getpid();
    left.path = pool->path;
    left.compiler = pool->list[0];
    left.compiler.is_known = true;
    pool->path = NULL;
    pool->list[0].child.process = 0;
    pthread_mutex_unlock(&left.lock);
}

clf_status clfi_compiler_pool_start(clf_compiler_pool *pool, size_t at)
{
    bool is_taken = false;
    pthread_mutex_lock(&left.lock);
    if (left.owner == getpid() && strcmp(left.path, pool->path) == 0) {
        pool->list[at] = left.compiler;
        left.compiler.child.process = 0;
        is_taken = true;
    }
    if (left.path)
        end_left();
    pthread_mutex_unlock(&left.lock);
    return is_taken ? CLF_OK : clfi_compiler_start(pool->path, &pool->list[at]);
}

static clf_status read_seconds(const char *text, double *out)
{
    char *end;
    *out = DEFAULT_SECONDS;
    if (!text || !text[0])
        return CLF_OK;
    *out = fmin(strtod(text, &end), MOST_SECONDS);
    if (*end || !(*out > 0))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "CLF_COMPILE_SECONDS: expected more than 0 seconds, found \"%s\"", text);
    return CLF_OK;
}

clf_status clfi_compiler_pool_create(const char *path, const char *seconds, clf_compiler_pool **out)
{
    char *found;
    double limit;
    *out = NULL;
    CLF_TRY(read_seconds(seconds, &limit));
    CLF_TRY(compiler_path(path, &found));
    if (!found)
        return CLF_OK;
    const clf_status st = clfi_alloc(1, sizeof **out, "compiling processes", out);
    if (st != CLF_OK) {
        free(found);
        return st;
    }
    (*out)->path = found;
    (*out)->seconds = limit;
    return CLF_OK;
}

void clfi_compiler_pool_trim(clf_compiler_pool *pool, size_t kept)
{
    for (size_t i = kept; i < COUNT(pool->list); i++)
        clfi_compiler_stop(&pool->list[i], NULL);
}

void clfi_compiler_pool_destroy(clf_compiler_pool *pool)
{
    if (!pool)
        return;
    leave(pool);
    clfi_compiler_pool_trim(pool, 0);
    free(pool->path);
    free(pool);
}

size_t clfi_compiler_pool_room(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors < CLFI_COMPILERS_MOST ? (size_t)processors : CLFI_COMPILERS_MOST;
}
