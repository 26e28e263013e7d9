/* SPDX-License-Identifier: MIT */
/* Networks from checkpoints: the family reads config.json, the loader finds the weights. */
#ifndef CLFI_MODEL_NETWORK_OPEN_H
#define CLFI_MODEL_NETWORK_OPEN_H

#include "model/family.h"

/* Takes over the checkpoint, also on failure; what the network uses in place keeps its files. Statuses as clf_model_open. */
clf_status clfi_network_open(clf_context *context, clf_checkpoint *checkpoint, const clf_family *family, clf_network **out);

#endif
