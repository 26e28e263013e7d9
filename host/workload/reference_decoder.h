/* SPDX-License-Identifier: MIT */
/* Language models in double: from the checkpoint, whatever it is stored in, and token ids to logits, with an estimate of what float32
 * arithmetic may change. */
#ifndef CLFI_WORKLOAD_REFERENCE_DECODER_H
#define CLFI_WORKLOAD_REFERENCE_DECODER_H

#include "workload/stored_decoder.h"
#include "workload/reference_transformer.h"

/* UNSUPPORTED names what is not computed here: norms after the residual sum, buckets of distances, sinusoids, a norm of the embedding. */
clf_status clfi_ref_decoder_check(const clfi_stored_decoder *model);

/* out [place_count, V]: logits of the token after ids[places[i]], for rising places below `length`. One causal pass over all ids; noise
 * NULL: exact. INVALID_ARGUMENT: an id outside the vocabulary. NOT_FOUND, FORMAT: weights that the checkpoint has not, or otherwise. */
clf_status clfi_ref_decoder_logits(const clfi_stored_decoder *model, const int32_t *ids, size_t length, const size_t *places,
                                   size_t place_count, clfi_ref_noise *noise, double *out);

/* The error that is allowed to any logit of a float32 result. As for encoders (reference_encoder.h) the sensitivity is measured: the
 * largest difference that rounding errors make to logits after the first tokens, plus one rounding of the largest logit. */
clf_status clfi_ref_decoder_bound(const clfi_stored_decoder *model, const int32_t *ids, size_t length, double *out);

#endif
