/* SPDX-License-Identifier: MIT */
/* Models that were split into several GGUF files: NAME-00001-of-00005.gguf and so on. The first has the metadata, each some tensors. */
#ifndef CLFI_IO_GGUF_PARTS_H
#define CLFI_IO_GGUF_PARTS_H

#include "io/gguf.h"

#define CLFI_GGUF_SPLIT "split."
#define CLFI_GGUF_SPLIT_NUMBER "split.no" /* from 0 */
#define CLFI_GGUF_SPLIT_COUNT "split.count"
#define CLFI_GGUF_SPLIT_TENSORS "split.tensors.count" /* of all parts together */

/* Whether this key describes how a model was split, not the model. */
bool clfi_gguf_is_split_key(const clf_gguf_value *value);

/* Opens the other parts of a file that is one of several, and adds their tensors to it. Statuses as clfi_gguf_open. */
clf_status clfi_gguf_join_parts(clf_gguf *file);

#endif
