/* SPDX-License-Identifier: MIT */
/* Engines: the implementations that an op can run on, in order of preference, the portable one last. */
#ifndef CLFI_OP_ENGINES_H
#define CLFI_OP_ENGINES_H

#include <stdbool.h>

#include "base/status.h"
#include "runtime/context.h"

/* One row. supports() is pure and cheap; args is the op's own argument struct. */
typedef struct clf_engine {
    const char *name;
    bool (*supports)(const clf_context *context, const void *args);
    clf_status (*run)(clf_context *context, const void *args);
} clf_engine;

typedef struct clf_engine_table {
    const char *op; /* the name before '=' in CLF_ENGINE */
    const clf_engine *engines;
    size_t count;
} clf_engine_table;

/* The name forced for `op` by the context's engine list ("op=name,op=name"), or "" when it forces none. Copied into out.
 * INVALID_ARGUMENT: the list is malformed. */
enum { CLFI_ENGINE_NAME_BYTES = 128 };
clf_status clfi_engine_forced(const clf_context *context, const char *op, char out[CLFI_ENGINE_NAME_BYTES]);

/* Runs the forced row (UNSUPPORTED when it cannot do this case, INVALID_ARGUMENT when there is none of that name), else the first that
 * supports the arguments (UNSUPPORTED when none does). */
clf_status clfi_engine_run(clf_context *context, const clf_engine_table *table, const void *args);

#endif
