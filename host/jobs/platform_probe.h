/* SPDX-License-Identifier: MIT */
/* Finds OpenCL drivers that would end or stop the program: tries each .icd file in a process of its own. */
#ifndef CLFI_JOBS_PLATFORM_PROBE_H
#define CLFI_JOBS_PLATFORM_PROBE_H

#include "base/str.h"

/* Enumerates the devices of each .icd file of OCL_ICD_VENDORS (default /etc/OpenCL/vendors) in a child process, all at once, for at most
 * ten seconds. Must come before the process's first OpenCL call. If a library crashes, hangs, ends the program or cannot be loaded,
 * `notes` gets a line about it. Then OCL_ICD_VENDORS becomes a temporary folder with the other files, *folder, which the caller removes by
 * cli_platforms_release after the devices have been listed. *folder NULL: all libraries work, or nothing could be tried. IO,
 * OUT_OF_MEMORY. */
clf_status cli_platforms_probe(clf_str *notes, char **folder);
void cli_platforms_release(char *folder); /* NULL is a no-op */

#endif
