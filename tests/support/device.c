/* SPDX-License-Identifier: MIT */
/* The device under test. */
#include "support/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PoCL compiles a kernel once for its work-groups, and once more, for any, when it is asked for the binary. It keeps the first on disk itself:
 * in tests, whose kernels are rarely anyone else's, the library's own cache doubles the time and saves nothing. */
static clf_status without_cache_on_pocl(clf_context **context)
{
    const char *platform = clf_context_device(*context)->platform_name;
    if (strcmp(platform, "Portable Computing Language") != 0 || setenv("CLF_CACHE_DIR", "", 1) != 0)
        return CLF_OK;
    clf_context_destroy(*context);
    return clf_context_create(NULL, context);
}

int device_setup(void **state)
{
    clf_context *context;
    clf_status st = clf_context_create(NULL, &context);
    if (st == CLF_NOT_FOUND && !getenv("CLF_DEVICE")) {
        fprintf(stderr, "skipped: %s\n", clf_last_error());
        exit(77);
    }
    if (st == CLF_OK)
        st = without_cache_on_pocl(&context);
    if (st != CLF_OK) {
        fprintf(stderr, "%s: %s\n", clf_status_text(st), clf_last_error());
        return -1;
    }
    *state = context;
    return 0;
}

int device_teardown(void **state)
{
    clf_context_destroy(*state);
    return 0;
}
