/* SPDX-License-Identifier: MIT */
/* Opens the device under test. */
#include "support/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/kernel_source.h"
#include "runtime/kernel_spec.h"

static bool is_quick; /* kernels of the GPU family are compiled without optimisation */

clf_kernel_spec __real_clfi_kernel_spec(const char *file, const char *kernel);
clf_kernel_spec __wrap_clfi_kernel_spec(const char *file, const char *kernel);

/* Replaces the library's function when the tests are linked (--wrap). Probes keep their options, because another process makes the same
 * specification for itself. */
clf_kernel_spec __wrap_clfi_kernel_spec(const char *file, const char *kernel)
{
    clf_kernel_spec spec = __real_clfi_kernel_spec(file, kernel);
    const clf_kernel_file *found = is_quick ? clfi_kernel_find(NULL, file) : NULL;
    if (found && strncmp(found->path, "gpu/", 4) == 0 && strncmp(file, "probe_", 6) != 0)
        clfi_spec_unoptimised(&spec);
    return spec;
}

int device_setup_cached(void **state)
{
    clf_context *context;
    const clf_status st = clf_context_create(NULL, &context);
    const bool lacks_assembly = st == CLF_UNSUPPORTED && getenv("CLF_MATRIX_UNIT"); /* PoCL 4.0 to 6.0 */
    if (lacks_assembly || (st == CLF_NOT_FOUND && !getenv("CLF_DEVICE"))) {
        fprintf(stderr, "skipped: %s\n", clf_last_error());
        fflush(NULL);
        _exit(77); /* not exit: a forced engine that never ran is no failure here (engine_watch.c) */
    }
    if (st != CLF_OK) {
        fprintf(stderr, "%s: %s\n", clf_status_text(st), clf_last_error());
        return -1;
    }
    *state = context;
    return 0;
}

/* Kernels of the GPU family, CLBlast's too, are compiled without optimisation. */
static int compile_quickly(void)
{
    is_quick = true;
    return setenv("CLBLAST_BUILD_OPTIONS", " -cl-opt-disable ", 1);
}

/* On PoCL the library's cache is off. PoCL compiles a kernel once for its work-groups, and again, for any work-group, if it is asked for
 * the binary. It keeps the first on disk itself. So for kernels that only one test uses, the library's cache doubles the time and saves
 * nothing. */
static int setup(void **state, bool is_quick_on_intel)
{
    const int failed = device_setup_cached(state);
    if (failed)
        return failed;
    const char *platform = clf_context_device(*state)->platform_name;
    const bool is_pocl = strcmp(platform, "Portable Computing Language") == 0;
    if ((is_pocl || (is_quick_on_intel && strcmp(platform, "Intel(R) OpenCL") == 0)) && compile_quickly() != 0)
        return -1;
    if (!is_pocl)
        return 0;
    clf_context_destroy(*state);
    return setenv("CLF_CACHE_DIR", "", 1) ? -1 : device_setup_cached(state);
}

int device_setup(void **state)
{
    return setup(state, true);
}

int device_setup_optimised(void **state)
{
    return setup(state, false);
}

int device_teardown(void **state)
{
    clf_context_destroy(*state);
    return 0;
}

uint64_t device_launches(const clf_context *context)
{
    clf_context_stats stats;
    clf_context_get_stats(context, &stats);
    return stats.kernels_launched;
}
