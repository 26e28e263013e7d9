/* SPDX-License-Identifier: MIT */
/* Refuses a checkpoint with tensors that no part of its network took: it belongs to another network. */
#ifndef CLFI_MODEL_UNREAD_TENSORS_H
#define CLFI_MODEL_UNREAD_TENSORS_H

#include "io/checkpoint.h"
#include "model/family.h"

typedef struct clf_tensor_readers {
    const clf_name_map *names;
    const char *prefix, *model_type;
    bool takes_all; /* the network has no other task's head: a decoder. Else tensors outside of the layers may be another task's */
    bool (*is_taken)(const void *user, const char *name);
    const void *user;
} clf_tensor_readers;

/* UNSUPPORTED, by its name: a weight that the file has twice with different numbers, or a tensor that was not taken. Allowed are copies of
 * a table of tokens, buffers that are computed, masks, and parts for pictures. Nothing is refused if config_kwargs change the
 * configuration. */
clf_status clfi_unread_tensors_check(const clf_checkpoint *checkpoint, const clf_tensor_readers *readers);

#endif
