/* SPDX-License-Identifier: MIT */
/* Networks in double, as a clf_network_config describes them. Token ids become features and logits, with an estimate of the error of
 * float32 arithmetic. Weights come from the checkpoint in any type that it stores. */
#ifndef CLFI_WORKLOAD_REFERENCE_NETWORK_H
#define CLFI_WORKLOAD_REFERENCE_NETWORK_H

#include "clformer/text.h"
#include "workload/stored_network.h"
#include "workload/reference_transformer.h"

/* out [length, C]: the features of all ids from the stack. noise NULL: exact. Statuses as clfi_ref_network_logits. */
clf_status clfi_ref_network_features(const clfi_stored_network *model, const int32_t *ids, size_t length, clfi_ref_noise *noise,
                                     double *out);

/* out [place_count, V]: logits of the token after ids[places[i]], for rising places below `length`. One causal pass over all ids.
 * source: the encoder's input of an encoder-decoder; ignored for others. noise NULL: exact. INVALID_ARGUMENT: an id outside the
 * vocabulary, or more ids than positions. NOT_FOUND: the checkpoint lacks a weight. FORMAT: a weight has another shape. UNSUPPORTED: an
 * adapter changes a weight. OUT_OF_MEMORY. */
clf_status clfi_ref_network_logits(const clfi_stored_network *model, const clf_tokens *source, const int32_t *ids, size_t length,
                                   const size_t *places, size_t place_count, clfi_ref_noise *noise, double *out);

/* *out: the error that is allowed to any logit of a float32 result. As for encoders (reference_encoder.h) the sensitivity is measured:
 * the largest change of logits after the first tokens by rounding errors, plus one rounding of the largest logit. Statuses as above. */
clf_status clfi_ref_network_bound(const clfi_stored_network *model, const clf_tokens *source, const int32_t *ids, size_t length,
                                  double *out);

#endif
