/* SPDX-License-Identifier: MIT */
/* Opens networks from checkpoints: the family reads config.json, the loader finds the weights. */
#ifndef CLFI_MODEL_NETWORK_OPEN_H
#define CLFI_MODEL_NETWORK_OPEN_H

#include "clformer/model.h"
#include "model/family.h"
#include "model/memory_plan.h"

/* The names of a family's weights in the checkpoint; NULL: it is a GGUF file, and GGUF has no names for the family. */
const clf_name_map *clfi_network_names(const clf_checkpoint *checkpoint, const clf_family *family);

/* Turns a decoder's configuration into that of an encoder without a head, whose outputs are embeddings. UNSUPPORTED: the family has an
 * encoder, or scores with a soft cap. */
clf_status clfi_network_as_encoder(const clf_family *family, clf_network_config *config);

/* Opens a network. Takes over the checkpoint, also on failure; weights used in place keep its files mapped. as_encoder: a decoder's layers
 * serve as an encoder without a head, whose outputs are embeddings, and each token still sees what it would in the decoder. params: how
 * weights are stored on the device. *plan: the device memory that the network needs; NULL: not wanted. Statuses as clf_model_open.
 * UNSUPPORTED also: as_encoder with soft caps, or a decoder whose tokens see later ones. */
clf_status clfi_network_open(clf_context *context, clf_checkpoint *checkpoint, const clf_family *family, bool as_encoder,
                             const clf_model_params *params, clf_memory_plan *plan, clf_network **out);

/* The device memory that the network of clfi_network_open needs. Loads the checkpoint's list of tensors; the checkpoint stays the
 * caller's. */
clf_status clfi_network_plan(clf_context *context, clf_checkpoint *checkpoint, const clf_family *family, bool as_encoder,
                             const clf_model_params *params, clf_memory_plan *out);

/* clfi_network_open without weights, for callers that need only what the configuration says. It takes over the checkpoint, reads nothing
 * but its configuration, and the network cannot compute. */
clf_status clfi_network_describe(clf_context *context, clf_checkpoint *checkpoint, const clf_family *family, bool as_encoder,
                                 clf_network **out);

#endif
