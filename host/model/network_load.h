/* SPDX-License-Identifier: MIT */
/* The one loader of weights: a network of a configuration, each weight found by its role in a name map. */
#ifndef CLFI_MODEL_NETWORK_LOAD_H
#define CLFI_MODEL_NETWORK_LOAD_H

#include "model/name_map.h"
#include "model/weight_source.h"
#include "nn/network.h"

/* Linears are packed and their files' pages let go of; tables and norms stay as they are stored. A bias that is absent counts as 0, every
 * other weight must be there. Statuses of the source; INVALID_ARGUMENT also for a generator with two biases. */
clf_status clfi_network_load(clf_context *context, const clf_network_config *config, const clf_name_map *names,
                             const clf_weight_source *source, clf_network **out);

/* Compiles the kernels that pack weights, several at once: a network of one layer is loaded in a rehearsal (runtime/rehearsal.h). Kernels
 * that later layers alone need, for weights of other types, are compiled when these are loaded. No-op within a rehearsal. */
clf_status clfi_network_rehearse_load(clf_context *context, const clf_network_config *config, const clf_name_map *names,
                                      const clf_weight_source *source);

#endif
