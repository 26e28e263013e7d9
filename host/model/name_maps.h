/* SPDX-License-Identifier: MIT */
/* The name maps of encoder-decoders that are built from a caller's tensors too. */
#ifndef CLFI_MODEL_NAME_MAPS_H
#define CLFI_MODEL_NAME_MAPS_H

#include "clformer/transformer.h"
#include "model/name_map.h"

/* The map of names of a caller's tensors; NULL for a value outside the enumeration. */
const clf_name_map *clfi_name_map(clf_weight_names names);

extern const clf_name_map clfi_names_labml; /* of directories: names with or without a leading "model." */
extern const clf_name_map clfi_names_bart;  /* likewise */

enum { CLFI_BART_POSITION_OFFSET = 2 }; /* the first two rows of BART's learned positions are unused */

#endif
