/* SPDX-License-Identifier: MIT */
/* Tensors of a checkpoint that no part of its network took: then it is another network. */
#ifndef CLFI_MODEL_UNREAD_TENSORS_H
#define CLFI_MODEL_UNREAD_TENSORS_H

#include "io/checkpoint.h"
#include "model/family.h"

typedef struct clf_tensor_readers {
    const clf_name_map *names;
    const char *prefix, *model_type;
    bool takes_all; /* a network without heads beside its own: a decoder. Else what lies outside of the layers is another task's */
    bool (*is_taken)(const void *user, const char *name);
    const void *user;
} clf_tensor_readers;

/* UNSUPPORTED: a weight that is there twice with different numbers, or a tensor that was not taken, by its name. Tensors with the bits of a
 * table of tokens, buffers that are computed, masks and parts for pictures may be left. Nothing is refused where config_kwargs change the
 * configuration. */
clf_status clfi_unread_tensors_check(const clf_checkpoint *checkpoint, const clf_tensor_readers *readers);

#endif
