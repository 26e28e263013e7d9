/* SPDX-License-Identifier: MIT */
/* The device under test. */
#include "support/device.h"

#include <stdio.h>
#include <stdlib.h>

int device_setup(void **state)
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

int device_teardown(void **state)
{
    clf_context_destroy(*state);
    return 0;
}
