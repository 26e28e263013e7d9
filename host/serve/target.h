/* SPDX-License-Identifier: MIT */
/* Finds the path in a request's target, which is the address in its first line. */
#ifndef CLFI_SERVE_TARGET_H
#define CLFI_SERVE_TARGET_H

#include "base/status.h"

/* The target's path: without scheme and host (http://host/path, as proxies send it), query and fragment; %41 becomes A. Invalid
 * escapes and %00 stay as they are. *out: the caller frees it. OUT_OF_MEMORY. */
clf_status srv_target_path(const char *target, char **out);

#endif
