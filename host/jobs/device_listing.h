/* SPDX-License-Identifier: MIT */
/* Lists the devices. A process of its own asks for them before this process, or those that it starts, call a driver. */
#ifndef CLFI_JOBS_DEVICE_LISTING_H
#define CLFI_JOBS_DEVICE_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { CLI_MOST_LISTED = 256, CLI_MOST_ASKED = 64, CLI_LISTED_NAME_BYTES = 128 };

typedef struct cli_listed {
    bool is_usable;
    bool is_like_default; /* of the default device's name and platform: one of several alike */
    bool is_chosen;       /* by "all": usable, and the best of those that are one piece of hardware */
    int same_as;          /* the device that "all" takes in its place; -1: none */
    char name[CLI_LISTED_NAME_BYTES], driver[CLI_LISTED_NAME_BYTES];
} cli_listed;

typedef struct cli_device_listing {
    size_t count;
    cli_listed devices[CLI_MOST_LISTED]; /* by index, as clformer devices lists them */
    size_t asked[CLI_MOST_ASKED];        /* which device each name is; SIZE_MAX: one beyond the listed */
} cli_device_listing;

/* Before the first OpenCL call of the process. A driver that crashes, hangs or ends the listing process is found (platform_guard.h). It is
 * left out of this process and of all that it starts, and nothing starts it again. `tells`: standard error names it. DEVICE: the listing
 * still fails without those. names: with commas between, at most CLI_MOST_ASKED (NULL: none), an empty one the default device; NOT_FOUND:
 * the first that no device has, and the devices there are. */
clf_status cli_devices_list(bool tells, const char *names, cli_device_listing *out);

/* The several devices that --device asks for, which is `device`, or CLF_DEVICE where that is NULL: "all", or names with commas between.
 * NULL: it is one. What CLF_DEVICE said is taken out of the environment then, since it is no device's name. */
const char *cli_devices_asked(const char *device);

#endif
