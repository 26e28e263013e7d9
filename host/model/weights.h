/* SPDX-License-Identifier: MIT */
/* Weights of a checkpoint on a device: found by name, checked against an expected shape, used in place or copied. */
#ifndef CLFI_MODEL_WEIGHTS_H
#define CLFI_MODEL_WEIGHTS_H

#include "clformer/model.h"
#include "io/checkpoint.h"
#include "tensor/row_blocks.h"

typedef struct clf_weights clf_weights;

/* Use of a tensor in the network. */
typedef enum clf_weight_use {
    CLFI_WEIGHT_KEPT,   /* norms, biases, positions: never rounded to f16; blocks become f32 */
    CLFI_WEIGHT_MATRIX, /* of a linear layer, or a token embedding table: may be rounded */
    CLFI_WEIGHT_PLAIN   /* a matrix whose rows are stored as the network has them: may stay quantised */
} clf_weight_use;

/* Takes over the checkpoint, also on failure, and opens its files. */
clf_status clfi_weights_open(clf_context *context, clf_checkpoint *checkpoint, clf_storage storage, clf_weights **out);
void clfi_weights_close(clf_weights *weights); /* what was loaded stays: weights in place keep the mapping */

/* Loads the tensor of this name as [dim[0], ...], in several blocks of rows if it exceeds the device's largest allocation. A quantised
 * matrix stays so if an engine of linear layers takes it; else it becomes f32. Matrices become f16 if that is the storage. *out: the caller
 * clears it. FORMAT "<file>: <name>: expected [768,2304], found ...". OUT_OF_MEMORY: not even one row fits. UNSUPPORTED: the type is no
 * weight's, or a weight has no finite f16 (named). */
clf_status clfi_weights_load(clf_weights *weights, const char *name, int rank, const int64_t *dim, clf_weight_use use, clf_row_blocks *out);
/* Whether a quantised matrix can stay on the device as it is stored. */
bool clfi_weights_stays_quantised(const clf_context *context, const clf_checkpoint_tensor *tensor);
bool clfi_weights_has(const clf_weights *weights, const char *name);

/* As clfi_checkpoint_is_copy. */
bool clfi_weights_is_copy(const clf_weights *weights, const char *name, const char *other);

/* Whether the tensor was loaded. */
bool clfi_weights_is_taken(const clf_weights *weights, const char *name);

/* Tells the system that a weight's pages of the file are not needed soon; called after packing. */
void clfi_weights_forget(clf_weights *weights, const char *name);

int64_t clfi_weights_parameters(const clf_weights *weights); /* elements of all weights */
uint64_t clfi_weights_file_bytes(const clf_weights *weights);

#endif
