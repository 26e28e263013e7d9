/* SPDX-License-Identifier: MIT */
/* Networks in double, as a clf_network_config describes them: from the checkpoint, whatever it is stored in, and token ids to features and
 * logits, with an estimate of what float32 arithmetic may change. */
#ifndef CLFI_WORKLOAD_REFERENCE_NETWORK_H
#define CLFI_WORKLOAD_REFERENCE_NETWORK_H

#include "clformer/text.h"
#include "workload/stored_network.h"
#include "workload/reference_transformer.h"

/* out [length, C]: the stack's features of all ids. Statuses as clfi_ref_network_logits. */
clf_status clfi_ref_network_features(const clfi_stored_network *model, const int32_t *ids, size_t length, clfi_ref_noise *noise,
                                     double *out);

/* out [place_count, V]: logits of the token after ids[places[i]], for rising places below `length`. One causal pass over all ids.
 * source: what an encoder-decoder's ids attend to; NULL for others. noise NULL: exact. INVALID_ARGUMENT: an id outside the vocabulary.
 * NOT_FOUND, FORMAT: weights that the checkpoint has not, or otherwise. */
clf_status clfi_ref_network_logits(const clfi_stored_network *model, const clf_tokens *source, const int32_t *ids, size_t length,
                                   const size_t *places, size_t place_count, clfi_ref_noise *noise, double *out);

/* The error that is allowed to any logit of a float32 result. As for encoders (reference_encoder.h) the sensitivity is measured: the
 * largest difference that rounding errors make to logits after the first tokens, plus one rounding of the largest logit. */
clf_status clfi_ref_network_bound(const clfi_stored_network *model, const clf_tokens *source, const int32_t *ids, size_t length,
                                  double *out);

#endif
