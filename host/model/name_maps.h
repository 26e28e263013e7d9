/* SPDX-License-Identifier: MIT */
/* The name maps of encoder-decoders. Programs build these networks from tensors of their own as well as from directories. */
#ifndef CLFI_MODEL_NAME_MAPS_H
#define CLFI_MODEL_NAME_MAPS_H

#include "clformer/transformer.h"
#include "model/name_map.h"

/* The map for the names of a caller's tensors; NULL for a value outside the enumeration. */
const clf_name_map *clfi_name_map(clf_weight_names names);

extern const clf_name_map clfi_names_labml; /* for directories: names with or without a leading "model." */
extern const clf_name_map clfi_names_bart;  /* for directories, too */

enum { CLFI_BART_POSITION_OFFSET = 2 }; /* the first two rows of BART's learned positions are unused */

#endif
