/* SPDX-License-Identifier: MIT */
/* The option --background, by which other programs get priority on the device and the processors. */
#ifndef CLFI_CONSOLE_BACKGROUND_H
#define CLFI_CONSOLE_BACKGROUND_H

#include "base/status.h"
#include "console/option.h"

/* The row of a command's table of options; `flag` is an int. */
#define CLI_BACKGROUND_OPTION(flag)                                                                               \
    {                                                                                                             \
        "background", 0, NULL, "give other programs on the device and the processors priority", CLI_FLAG, &(flag) \
    }

/* If is_asked or CLF_BACKGROUND is set: gives this process and the child processes that it starts later a low priority (nice 10). It also
 * sets the variable, so that all their contexts work in the background. Call it before the first call of OpenCL, whose threads inherit the
 * caller's priority. OUT_OF_MEMORY. */
clf_status cli_background_enter(int is_asked);

#endif
