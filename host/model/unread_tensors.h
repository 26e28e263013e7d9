/* SPDX-License-Identifier: MIT */
/* Refuses a checkpoint with tensors that its network did not load: they belong to another network. */
#ifndef CLFI_MODEL_UNREAD_TENSORS_H
#define CLFI_MODEL_UNREAD_TENSORS_H

#include "io/checkpoint.h"
#include "model/family.h"

typedef struct clf_tensor_readers {
    const clf_name_map *names;
    const char *prefix, *model_type;
    bool takes_all; /* every tensor must be loaded (decoders); else tensors outside the layers may be another task's head */
    bool (*is_taken)(const void *user, const char *name);
    const void *user;
} clf_tensor_readers;

/* UNSUPPORTED: a weight that the file has twice with different values, or a tensor that was not loaded; the message names it. Allowed are
 * copies of a token embedding table, buffers that can be computed, masks, and the parts that read images. Nothing is refused if
 * config_kwargs change the configuration. */
clf_status clfi_unread_tensors_check(const clf_checkpoint *checkpoint, const clf_tensor_readers *readers);

#endif
