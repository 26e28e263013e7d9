/* SPDX-License-Identifier: MIT */
/* Collects facts about the host and the library for the result file of clformer bench: processor, memory, system, version, commit,
 * CLBlast. */
#ifndef CLFI_BENCH_MACHINE_H
#define CLFI_BENCH_MACHINE_H

#include <jansson.h>
#include <stddef.h>

#include "clformer/status.h"

/* {"cpu", "architecture", "logical_cores", "memory_bytes", "os", "kernel"}; unknown facts are "unknown" or 0. root: prefix of /proc,
 * /etc and /sys in tests; "" for the machine itself. *out: the caller releases it. OUT_OF_MEMORY. */
clf_status clfi_machine_host(const char *root, json_t **out);

/* {"version", "commit", "clblast"}. commit: the one that was built, with "-dirty" if tracked files differed from it, "unknown" outside a
 * repository. clblast: the version in the file name of the loaded library, else the version at build time, else "unknown". *out: the
 * caller releases it. OUT_OF_MEMORY. */
clf_status clfi_machine_library(json_t **out);

#endif
