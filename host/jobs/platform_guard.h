/* SPDX-License-Identifier: MIT */
/* Drivers that crash or exit while they are loaded, found without trying each one first: only the crash itself costs time. */
#ifndef CLFI_JOBS_PLATFORM_GUARD_H
#define CLFI_JOBS_PLATFORM_GUARD_H

#include <stdbool.h>

#include "base/status.h"
#include "base/str.h"

/* The program's arguments, before anything else. */
void cli_platforms_arguments(int argc, char **argv);

/* Around the process's first enumeration of devices. If a driver crashes or calls exit() in it, the program starts again with the same
 * arguments. It then tries each driver in a process of its own (platform_probe.h), says on standard error which ones it leaves out, and
 * goes on without them. A driver that crashes then as well is told before the program ends. A driver that hangs is found by `clformer
 * devices` only. Not from several threads. */
clf_status cli_platforms_enter(void);
void cli_platforms_leave(void);

/* For a program of several processes: from now on entering starts nothing again, neither here nor in processes that are forked. */
void cli_platforms_stay(void);

/* Tries each driver now, and leaves out what crashes, hangs or ends the program, from this process and those that it starts, until it
 * leaves or ends. `tells`: standard error names it; `notes` (may be NULL) gets the same lines. For a program that leaves OpenCL to other
 * processes it stands in the place of entering. */
clf_status cli_platforms_leave_out(bool tells, clf_str *notes);

#endif
