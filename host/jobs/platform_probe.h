/* SPDX-License-Identifier: MIT */
/* Drivers that would end or stop the program: each .icd file is tried in a process of its own first. */
#ifndef CLFI_JOBS_PLATFORM_PROBE_H
#define CLFI_JOBS_PLATFORM_PROBE_H

#include "base/str.h"

/* Enumerates the devices of each .icd file of OCL_ICD_VENDORS (default /etc/OpenCL/vendors) in a child process, all side by side, for at
 * most ten seconds. Before the process's first OpenCL call. Where a library crashes, hangs, ends the program or cannot be loaded, a line
 * for it goes to `notes`. OCL_ICD_VENDORS then becomes a temporary folder of the others, which cli_platforms_release removes after the
 * devices were listed. */
clf_status cli_platforms_probe(clf_str *notes, char **folder);
void cli_platforms_release(char *folder); /* NULL is a no-op */

#endif
