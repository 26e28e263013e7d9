/* SPDX-License-Identifier: MIT */
/* Loads networks: finds each weight by its role in a name map. There is no other loader of networks. */
#ifndef CLFI_MODEL_NETWORK_LOAD_H
#define CLFI_MODEL_NETWORK_LOAD_H

#include "model/name_map.h"
#include "model/weight_source.h"
#include "nn/network.h"

/* Loads a network of this configuration. Matrices of linear layers are packed, and the source may release the memory they came from.
 * Tables, norms and biases are used as they are stored, except gains that need another scale or offset. A missing bias counts as 0; every
 * other weight must be there. The caller releases *out with clfi_network_destroy. Statuses of the source; INVALID_ARGUMENT also for a
 * generator with two biases. */
clf_status clfi_network_load(clf_context *context, const clf_network_config *config, const clf_name_map *names,
                             const clf_weight_source *source, clf_network **out);

/* Compiles the kernels that pack weights, several at once, by loading a network of one layer in a rehearsal (runtime/rehearsal.h). Kernels
 * that only later layers need, for weights of other types, are compiled when these are loaded. No-op within a rehearsal. */
clf_status clfi_network_rehearse_load(clf_context *context, const clf_network_config *config, const clf_name_map *names,
                                      const clf_weight_source *source);

#endif
