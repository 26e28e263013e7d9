/* SPDX-License-Identifier: MIT */
/* The device under test. */
#include "support/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kernel_source.h"
#include "runtime/kernel_spec.h"

static bool is_quick; /* kernels of the GPU family are compiled without optimisation */

clf_kernel_spec __real_clfi_kernel_spec(const char *file, const char *kernel);
clf_kernel_spec __wrap_clfi_kernel_spec(const char *file, const char *kernel);

/* Linked in the place of the library's function (--wrap). The process that runs a probe makes the same specification itself. */
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
    if (st == CLF_NOT_FOUND && !getenv("CLF_DEVICE")) {
        fprintf(stderr, "skipped: %s\n", clf_last_error());
        exit(77);
    }
    if (st != CLF_OK) {
        fprintf(stderr, "%s: %s\n", clf_status_text(st), clf_last_error());
        return -1;
    }
    *state = context;
    return 0;
}

/* PoCL compiles a kernel once for its work-groups, and once more, for any, when it is asked for the binary. It keeps the first on disk
 * itself: for kernels of one test alone, the library's cache doubles the time and saves nothing. It also takes three times as long to
 * optimise the GPU family's kernels as to compile them, and nobody runs these on it but tests; Intel's runtime optimises them. */
int device_setup(void **state)
{
    const int failed = device_setup_cached(state);
    if (failed || strcmp(clf_context_device(*state)->platform_name, "Portable Computing Language") != 0)
        return failed;
    clf_context_destroy(*state);
    is_quick = true;
    return setenv("CLF_CACHE_DIR", "", 1) ? -1 : device_setup_cached(state);
}

int device_teardown(void **state)
{
    clf_context_destroy(*state);
    return 0;
}
