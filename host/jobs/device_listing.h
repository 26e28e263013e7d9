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
    bool is_chosen;       /* "all" includes it: usable, and the preferred one among drivers of the same hardware */
    int same_as;          /* index of the same hardware that "all" includes instead; -1: none */
    char name[CLI_LISTED_NAME_BYTES], driver[CLI_LISTED_NAME_BYTES];
} cli_listed;

typedef struct cli_device_listing {
    size_t count;
    cli_listed devices[CLI_MOST_LISTED]; /* by index, as clformer devices lists them */
    size_t asked[CLI_MOST_ASKED];        /* index of each requested device; SIZE_MAX: unusable, or not in `devices` */
} cli_device_listing;

/* Lists the devices. Call it before the first OpenCL call of the process. If a driver crashes, hangs or ends the child process, each
 * driver is tried (platform_guard.h). This process and all that it starts then ignore the broken drivers; with `tells`, standard error
 * names them. names: at most CLI_MOST_ASKED selectors separated by commas, for out->asked; an empty selector is the default device; NULL:
 * no names. NOT_FOUND: a selector matches no device; the reason names it and lists the devices. DEVICE: the listing fails even without
 * the broken drivers. IO, OUT_OF_MEMORY. */
clf_status cli_devices_list(bool tells, const char *names, cli_device_listing *out);

/* *out: the value of `device` (the option --device; NULL: the environment variable CLF_DEVICE) if it asks for several devices: "all", or
 * names separated by commas. Otherwise NULL. A list in CLF_DEVICE is removed from the environment, because the library expects one device
 * there, so only the first call returns it. OUT_OF_MEMORY. */
clf_status cli_devices_asked(const char *device, const char **out);

#endif
