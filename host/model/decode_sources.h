/* SPDX-License-Identifier: MIT */
/* Sources that decoded sequences attend to: encoded once, their keys and values projected for all layers of the decoder. */
#ifndef CLFI_MODEL_DECODE_SOURCES_H
#define CLFI_MODEL_DECODE_SOURCES_H

#include "model/packing.h"
#include "nn/decoder.h"

/* Zeroed: none. Memory is used again by the sources that come next. */
typedef struct clf_decode_sources {
    clf_packer packer;
    clf_decoder_memory memory;
    int32_t *offsets; /* [count + 1]: source s has the memory's rows offsets[s] .. offsets[s+1) */
    size_t capacity;
    int32_t count, longest;
} clf_decode_sources;

/* Sources s of tokens ids[offsets[s] .. offsets[s+1]), offsets[0] = 0, in place of those of before. INVALID_ARGUMENT: offsets that fall, a
 * source longer than the encoder's positions, an id outside its vocabulary; then there are none. */
clf_status clfi_decode_sources_set(clf_context *context, const clf_network *network, const int32_t *ids, const int32_t *offsets,
                                   size_t count, clf_decode_sources *sources);
void clfi_decode_sources_clear(clf_decode_sources *sources);

#endif
