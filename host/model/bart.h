/* SPDX-License-Identifier: MIT */
/* Hugging Face's BART and Marian networks from their directories. */
#ifndef CLFI_MODEL_BART_H
#define CLFI_MODEL_BART_H

#include <jansson.h>

#include "model/weights.h"
#include "nn/transformer.h"

/* What config.json of model_type "bart" or "marian" describes. FORMAT: a key is missing or out of range, or keys contradict each other.
 * UNSUPPORTED: what the network cannot be (different heads or hidden widths in encoder and decoder, norms first, another activation). */
clf_status clfi_bart_read_config(const json_t *json, clf_transformer_config *out);

/* The network of a directory whose config.json was read. *weights: closed after the network, which uses it in place. Statuses as
 * clf_model_open. */
clf_status clfi_bart_open(clf_context *context, const char *directory, const json_t *json, clf_transformer **out, clf_weights **weights);

#endif
