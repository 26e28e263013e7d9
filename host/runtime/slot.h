/* SPDX-License-Identifier: MIT */
/* Slots hold what other parts keep for a context, such as a table that they read or the state of a library below them. The context does not
 * know the content. It clears slots when it ends or when its device is opened again. */
#ifndef CLFI_RUNTIME_SLOT_H
#define CLFI_RUNTIME_SLOT_H

#include <stddef.h>

#include "runtime/context.h"

/* One static object for each kind of content; its address is the key. */
typedef struct clf_slot_type {
    const char *name;             /* for messages */
    size_t bytes;                 /* size of the content */
    void (*clear)(void *content); /* called before its memory is freed, while the cl_context still exists; NULL: nothing to do */
} clf_slot_type;

/* *out_pointer: the context's content of this type, made and zeroed at the first call. The context is const here so that functions which
 * only query it can cache what they found. No context object is itself const, and one thread uses it at a time. OUT_OF_MEMORY. */
clf_status clfi_slot_get(const clf_context *context, const clf_slot_type *type, void *out_pointer);

/* Clears and frees all slots, the newest first. */
void clfi_slots_clear(clf_context *context);

#endif
