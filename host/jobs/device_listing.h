/* SPDX-License-Identifier: MIT */
/* Lists the devices of the machine for commands that use several. A child process asks the drivers first, because one may crash or hang. */
#ifndef CLFI_JOBS_DEVICE_LISTING_H
#define CLFI_JOBS_DEVICE_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { CLI_MOST_LISTED = 256, CLI_MOST_ASKED = 64, CLI_LISTED_NAME_BYTES = 128 };

typedef struct cli_listed {
    bool is_usable;
    bool is_like_default; /* has the name and the platform of the default device */
    bool is_chosen;       /* "all" takes it: usable, and the preferred one of those that are one piece of hardware */
    int same_as;          /* index of the device that "all" takes in its place; -1: none */
    char name[CLI_LISTED_NAME_BYTES], driver[CLI_LISTED_NAME_BYTES];
} cli_listed;

typedef struct cli_device_listing {
    size_t count;
    cli_listed devices[CLI_MOST_LISTED]; /* by index, as clformer devices lists them */
    size_t asked[CLI_MOST_ASKED];        /* index of each name's device; SIZE_MAX: it cannot be used, or is beyond the listed ones */
} cli_device_listing;

/* Lists the devices; must come before the first OpenCL call of the process. If a driver crashes, hangs or ends the child, each driver is
 * tried (platform_guard.h), and broken ones are left out of this process and of all that it starts. `tells`: standard error names them.
 * names: selectors separated by commas, at most CLI_MOST_ASKED, an empty one for the default device; NULL: none. NOT_FOUND: no device
 * matches one of them; the reason names it and lists the devices. DEVICE: the listing fails even without the broken drivers. IO,
 * OUT_OF_MEMORY. */
clf_status cli_devices_list(bool tells, const char *names, cli_device_listing *out);

/* *out: the devices, if several are asked for: "all", or names separated by commas. NULL: one device. They stand in `device` (the value of
 * --device), or if that is NULL in CLF_DEVICE. A list in CLF_DEVICE is removed from the environment, since it is not the name of a device;
 * so only the first call returns it. OUT_OF_MEMORY. */
clf_status cli_devices_asked(const char *device, const char **out);

#endif
