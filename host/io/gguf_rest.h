/* SPDX-License-Identifier: MIT */
/* A GGUF file's keys that the configuration is not made from. */
#ifndef CLFI_IO_GGUF_REST_H
#define CLFI_IO_GGUF_REST_H

#include <jansson.h>

#include "io/gguf.h"

/* Keys that change the mathematics in a way that no network here has, such as attention.causal false. UNSUPPORTED: one of them says so;
 * it is named with its value. */
clf_status clfi_gguf_refuse_rest(const clf_gguf *file, const char *architecture);

/* Keys that are not in `seen` (an object of those that were looked for) and not known to change nothing become keys of `config` under
 * their whole names, arrays as true. The list of keys that nothing reads is made from them. */
clf_status clfi_gguf_keep_rest(const clf_gguf *file, const char *architecture, const json_t *seen, json_t *config);

#endif
