/* SPDX-License-Identifier: MIT */
/* Networks from checkpoints: the family reads config.json, the loader finds the weights. */
#ifndef CLFI_MODEL_NETWORK_OPEN_H
#define CLFI_MODEL_NETWORK_OPEN_H

#include "clformer/model.h"
#include "model/family.h"
#include "model/memory_plan.h"

/* Names of a family's weights in the checkpoint; NULL: a GGUF file of a family that has no names there. */
const clf_name_map *clfi_network_names(const clf_checkpoint *checkpoint, const clf_family *family);

/* A decoder's layers as an encoder's, without a head, whose outputs are embeddings. UNSUPPORTED: the family has an encoder, or scores with
 * a soft cap. */
clf_status clfi_network_as_encoder(const clf_family *family, clf_network_config *config);

/* Takes over the checkpoint, also on failure; what the network uses in place keeps its files. as_encoder: a family of decoders gives its
 * layers as an encoder's, without a head, whose outputs are embeddings; each token still sees what it would in the decoder. params: how
 * weights lie on the device. *plan: what it takes there; NULL: not wanted. Statuses as clf_model_open; UNSUPPORTED: scores with a soft cap
 * in an encoder, a decoder whose tokens see later ones. */
clf_status clfi_network_open(clf_context *context, clf_checkpoint *checkpoint, const clf_family *family, bool as_encoder,
                             const clf_model_params *params, clf_memory_plan *plan, clf_network **out);

/* The device memory that clfi_network_open's network needs. The caller keeps the checkpoint, whose tensors are known afterwards. */
clf_status clfi_network_plan(clf_context *context, clf_checkpoint *checkpoint, const clf_family *family, bool as_encoder,
                             const clf_model_params *params, clf_memory_plan *out);

/* clfi_network_open without weights, for what the configuration alone tells: nothing of the checkpoint's files is read behind its
 * configuration, and nothing can be computed with it. */
clf_status clfi_network_describe(clf_context *context, clf_checkpoint *checkpoint, const clf_family *family, bool as_encoder,
                                 clf_network **out);

#endif
