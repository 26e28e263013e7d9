/* SPDX-License-Identifier: MIT */
/* Where workloads that begin without a context begin: the device of the context that they are prepared with, and its cache of programs. */
#ifndef CLFI_WORKLOAD_START_PLACE_H
#define CLFI_WORKLOAD_START_PLACE_H

#include <stdbool.h>

#include "clformer/context.h"

typedef struct clfi_start_place {
    char device[32]; /* index in the list of devices */
    char *cache_dir; /* owned; "": programs are built from their source */
} clfi_start_place;

/* is_cold: without a cache. UNSUPPORTED: the context has no cache to start from. */
clf_status clfi_start_place_find(const clf_context *context, bool is_cold, clfi_start_place *out);
void clfi_start_place_free(clfi_start_place *place); /* zeros are accepted */

/* A new context there. */
clf_status clfi_start_context(const clfi_start_place *place, clf_context **out);

#endif
