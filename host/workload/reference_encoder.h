/* SPDX-License-Identifier: MIT */
/* Encoders of BERT's kind in double, from the checkpoint to sentence embeddings, with an estimate of what float32 arithmetic may change. */
#ifndef CLFI_WORKLOAD_REFERENCE_ENCODER_H
#define CLFI_WORKLOAD_REFERENCE_ENCODER_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "clformer/model.h"

typedef struct clfi_ref_encoder clfi_ref_encoder;

/* Reads config.json and the weights of a directory that clf_model_open takes; info is that model's (pooling, normalize). UNSUPPORTED: a
 * network of another kind than BERT's, named by its model_type. */
clf_status clfi_ref_encoder_open(const char *directory, const clf_model_info *info, clfi_ref_encoder **out);
void clfi_ref_encoder_close(clfi_ref_encoder *encoder); /* NULL is a no-op */

/* The embedding of one sequence of token ids (types 0): C values, of Euclidean norm 1 (or 0) where the model normalises.
 *
 * *bound: the error that is allowed to any element of a float32 result. There is no useful a-priori bound for a whole network, so the
 * sensitivity is measured: the pass runs once more with rounding errors (clfi_ref_noise), and the bound is four times the largest
 * difference that this makes, plus one rounding. */
clf_status clfi_ref_encoder_embed(const clfi_ref_encoder *encoder, const int32_t *ids, size_t length, double *out, double *bound);

#endif
