/* SPDX-License-Identifier: MIT */
/* Keys of a GGUF file that the configuration does not use. */
#ifndef CLFI_IO_GGUF_REST_H
#define CLFI_IO_GGUF_REST_H

#include <jansson.h>

#include "io/gguf.h"

/* Refuses keys that change the mathematics in a way that no network here supports. head_size: elements of a head. UNSUPPORTED: a key has
 * such a value; both are named. FORMAT: a key is not a number. */
clf_status clfi_gguf_refuse_rest(const clf_gguf *file, const char *architecture, int64_t head_size);

/* Copies the keys that may change results, but that nothing reads, to `config` under their whole names; texts and arrays as true. They are
 * the keys that are neither in `seen` (an object of those that were looked for) nor known to be harmless. The account of unread keys is
 * made from them. OUT_OF_MEMORY. */
clf_status clfi_gguf_keep_rest(const clf_gguf *file, const char *architecture, const json_t *seen, json_t *config);

#endif
