/* SPDX-License-Identifier: MIT */
/* Lets the program run despite OpenCL drivers that crash or exit while they are loaded. A driver is tried on its own only after a crash, so
 * that the start costs nothing where all work. */
#ifndef CLFI_JOBS_PLATFORM_GUARD_H
#define CLFI_JOBS_PLATFORM_GUARD_H

#include <stdbool.h>

#include "base/status.h"
#include "base/str.h"

/* Keeps the program's arguments for a second start; main calls it before it parses them. */
void cli_platforms_arguments(int argc, char **argv);

/* Around the process's first enumeration of devices. If a driver crashes or calls exit() in it, the program starts again with the same
 * arguments. It then tries each driver in a process of its own (platform_probe.h), says on standard error which ones it leaves out, and
 * goes on without them. If a driver crashes again, a message says so before the program ends. A driver that hangs is not noticed here,
 * but by `clformer devices`. Not thread-safe. */
clf_status cli_platforms_enter(void);
void cli_platforms_leave(void);

/* Removes the temporary folder of the drivers that are left. exit() does so too: only for an end of the process without it. */
void cli_platforms_clean(void);

/* For a program of several processes: from now on a crash does not start the program again, in this process and in its forks. */
void cli_platforms_stay(void);

/* Tries each driver now. Those that crash, hang, end the program or cannot be loaded are left out of this process and of those that it
 * starts, until the end of the process. `tells`: standard error names them; `notes` (may be NULL) gets the same
 * lines. A program whose child processes alone use OpenCL calls it instead of cli_platforms_enter. */
clf_status cli_platforms_leave_out(bool tells, clf_str *notes);

#endif
