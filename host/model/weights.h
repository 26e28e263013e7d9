/* SPDX-License-Identifier: MIT */
/* Weights of a checkpoint on a device: found by name, checked against an expected shape, used in place or copied. */
#ifndef CLFI_MODEL_WEIGHTS_H
#define CLFI_MODEL_WEIGHTS_H

#include "io/safetensors.h"
#include "tensor/row_blocks.h"

typedef struct clf_weights clf_weights;

/* Opens the checkpoint of a directory. prefixes: what may stand before every name, tried in order ("", "bert."), ended by NULL; the
 * first with which `probe` exists is used for all names, with NULL the first. FORMAT: probe is there under none of them. */
clf_status clfi_weights_open(clf_context *context, const char *directory, const char *const *prefixes, const char *probe,
                             clf_weights **out);

/* The same from a checkpoint in memory (borrowed until close); `name` stands for its path in messages. */
clf_status clfi_weights_open_memory(clf_context *context, const void *data, size_t size, const char *name, const char *const *prefixes,
                                    const char *probe, clf_weights **out);
void clfi_weights_close(clf_weights *weights); /* after every weight loaded from it was released: in-place weights are its mapping */

/* The tensor of this name, prefix left out, as [dim[0], ...]; in several blocks of rows where the device's largest allocation is smaller. FORMAT "<file>:
 * <name>: expected float [768,2304], found ...". OUT_OF_MEMORY: not even one row fits. *out: the caller clears it. */
clf_status clfi_weights_load(clf_weights *weights, const char *name, int rank, const int64_t *dim, clf_row_blocks *out);

/* The same where the name is made by a format with the layer's number. */
clf_status clfi_weights_load_layer(clf_weights *weights, const char *format, int layer, int rank, const int64_t *dim,
                                   clf_row_blocks *out);

/* The file's tensor behind a name, NULL when absent: for reading dimensions before anything is loaded. */
const clf_file_tensor *clfi_weights_find(const clf_weights *weights, const char *name);

int64_t clfi_weights_parameters(const clf_weights *weights); /* elements in all tensors of float type */
uint64_t clfi_weights_file_bytes(const clf_weights *weights);

/* Tells the system that a weight's file pages are not needed soon: after its packing. */
void clfi_weights_forget(clf_weights *weights, const char *format, int layer);

#endif
