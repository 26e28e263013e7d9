/* SPDX-License-Identifier: MIT */
/* The device under test. */
#include "support/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
 * itself: for kernels of one test alone, the library's cache doubles the time and saves nothing. */
int device_setup(void **state)
{
    const int failed = device_setup_cached(state);
    if (failed || strcmp(clf_context_device(*state)->platform_name, "Portable Computing Language") != 0)
        return failed;
    clf_context_destroy(*state);
    return setenv("CLF_CACHE_DIR", "", 1) ? -1 : device_setup_cached(state);
}

int device_teardown(void **state)
{
    clf_context_destroy(*state);
    return 0;
}
