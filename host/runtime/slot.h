/* SPDX-License-Identifier: MIT */
/* Slots: what upper layers keep for a context (a table they read, the state of a library below them). The context knows nothing of their
 * content and clears it when it goes. */
#ifndef CLFI_RUNTIME_SLOT_H
#define CLFI_RUNTIME_SLOT_H

#include <stddef.h>

#include "runtime/context.h"

/* One static object for each kind of content; its address is the key. */
typedef struct clf_slot_type {
    const char *name;             /* for messages */
    size_t bytes;                 /* of the content */
    void (*clear)(void *content); /* before its memory is freed, while the device is still there; NULL: nothing to do */
} clf_slot_type;

/* The context's content of this type, zeroed when it is asked for first. A context is never const itself and one thread uses it at a time,
 * so that what is read late may be kept in one that is const here. OUT_OF_MEMORY. */
clf_status clfi_slot_get(const clf_context *context, const clf_slot_type *type, void *out_pointer);

/* Clears all, the newest first. */
void clfi_slots_clear(clf_context *context);

#endif
