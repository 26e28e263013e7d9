/* SPDX-License-Identifier: MIT */
/* A program that works in the background: other programs come first on the device and on the processors. */
#ifndef CLFI_CONSOLE_BACKGROUND_H
#define CLFI_CONSOLE_BACKGROUND_H

#include "base/status.h"
#include "console/option.h"

/* The row of a command's table of options; `flag` is an int. */
#define CLI_BACKGROUND_OPTION(flag)                                                                               \
    {                                                                                                             \
        "background", 0, NULL, "give other programs on the device and the processors priority", CLI_FLAG, &(flag) \
    }

/* Before the first call of OpenCL, whose threads have the priority of the caller. is_asked, or $CLF_BACKGROUND, gives this process and
 * those that it starts from now on a low priority (10 of nice). The variable is set, so that their contexts are in the background, too.
 * OUT_OF_MEMORY. */
clf_status cli_background_enter(int is_asked);

#endif
