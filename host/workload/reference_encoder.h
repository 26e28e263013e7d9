/* SPDX-License-Identifier: MIT */
/* Sentence embeddings in double, from a directory's checkpoint and modules, with an estimate of what float32 arithmetic may change. */
#ifndef CLFI_WORKLOAD_REFERENCE_ENCODER_H
#define CLFI_WORKLOAD_REFERENCE_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct clfi_ref_encoder clfi_ref_encoder;

/* Reads a directory that clf_model_open accepts as a model of embeddings; *out: the caller closes it. kept: how many values of an embedding
 * are compared, clf_model_info.embedding_width. Statuses as clf_model_open. UNSUPPORTED also: no Pooling module, or a family without
 * encoder. FORMAT also: the modules give fewer values than `kept`. */
clf_status clfi_ref_encoder_open(const char *directory, size_t kept, clfi_ref_encoder **out);
void clfi_ref_encoder_close(clfi_ref_encoder *encoder); /* NULL is a no-op */

/* Whether the modules give more values than are kept (truncate_dim): rows that a Normalize module made then have no norm of 1. */
bool clfi_ref_encoder_is_cut(const clfi_ref_encoder *encoder);

/* The embedding of one sequence of token ids (types 0): the features of the network after pooling and the directory's modules. out: the
 * first `kept` values.
 *
 * *bound: the error that is allowed to any element of a float32 result. A whole network has no useful bound in advance, so its
 * sensitivity is measured. The pass runs once more with rounding errors (clfi_ref_noise). The bound is four times the largest difference
 * that they make, plus one rounding. Statuses as clfi_ref_network_features. */
clf_status clfi_ref_encoder_embed(const clfi_ref_encoder *encoder, const int32_t *ids, size_t length, double *out, double *bound);

#endif
