/* SPDX-License-Identifier: MIT */
/* Keeps the slots of a context in a linked list, since there are few. */
#include "runtime/slot.h"

#include <string.h>

#include "base/alloc.h"

struct clf_slot {
    const clf_slot_type *type;
    void *content;
    clf_slot *next;
};

static clf_status add(clf_context *context, const clf_slot_type *type)
{
    clf_slot *slot;
    CLF_TRY(clfi_alloc(1, sizeof *slot, type->name, &slot));
    const clf_status st = clfi_alloc(1, type->bytes, type->name, &slot->content);
    if (st != CLF_OK) {
        free(slot);
        return st;
    }
    slot->type = type;
    slot->next = context->slots;
    context->slots = slot;
    return CLF_OK;
}

clf_status clfi_slot_get(const clf_context *context, const clf_slot_type *type, void *out_pointer)
{
    const clf_slot *slot = context->slots;
    while (slot && slot->type != type)
        slot = slot->next;
    if (!slot) {
        CLF_TRY(add((clf_context *)context, type));
        slot = context->slots;
    }
    memcpy(out_pointer, &slot->content, sizeof slot->content);
    return CLF_OK;
}

void clfi_slots_clear(clf_context *context)
{
    while (context->slots) {
        clf_slot *slot = context->slots;
        if (slot->type->clear)
            slot->type->clear(slot->content);
        context->slots = slot->next;
        free(slot->content);
        free(slot);
    }
}
