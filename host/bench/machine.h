/* SPDX-License-Identifier: MIT */
/* Facts about the host and the library for a record: processor, memory, system, version, commit, CLBlast. */
#ifndef CLFI_BENCH_MACHINE_H
#define CLFI_BENCH_MACHINE_H

#include <jansson.h>
#include <stddef.h>

#include "clformer/status.h"

/* {"cpu", "architecture", "logical_cores", "memory_bytes", "os", "kernel"}; what the system does not tell is "unknown" or 0. root stands in
 * front of /proc, /etc and /sys (tests); "" for the machine itself. *out: the caller releases it. OUT_OF_MEMORY. */
clf_status clfi_machine_host(const char *root, json_t **out);

/* {"version", "commit", "clblast"}: the commit that was built, with "-dirty" where tracked files differed from it, "unknown" outside a
 * repository; the CLBlast that is loaded, not the one that was built against. *out: the caller releases it. OUT_OF_MEMORY. */
clf_status clfi_machine_library(json_t **out);

#endif
