/* SPDX-License-Identifier: MIT */
/* Sentence embeddings in double, from a directory's checkpoint and modules, with an estimate of what float32 arithmetic may change. */
#ifndef CLFI_WORKLOAD_REFERENCE_ENCODER_H
#define CLFI_WORKLOAD_REFERENCE_ENCODER_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct clfi_ref_encoder clfi_ref_encoder;

/* Reads a directory that clf_model_open takes as a model of embeddings. Statuses as clf_model_open; UNSUPPORTED: clfi_ref_network_check. */
clf_status clfi_ref_encoder_open(const char *directory, clfi_ref_encoder **out);
void clfi_ref_encoder_close(clfi_ref_encoder *encoder); /* NULL is a no-op */

/* The embedding of one sequence of token ids (types 0): what the directory's modules make of the network's features.
 *
 * *bound: the error that is allowed to any element of a float32 result. There is no useful a-priori bound for a whole network, so the
 * sensitivity is measured. The pass runs once more with rounding errors (clfi_ref_noise). The bound is four times the largest difference
 * that this makes, plus one rounding. */
clf_status clfi_ref_encoder_embed(const clfi_ref_encoder *encoder, const int32_t *ids, size_t length, double *out, double *bound);

#endif
