/* SPDX-License-Identifier: MIT */
/* Reads the settings that Metaspace has both as a pre-tokenizer and as a decoder. */
#ifndef CLFI_TEXT_METASPACE_H
#define CLFI_TEXT_METASPACE_H

#include <jansson.h>

#include "base/status.h"

/* Which pieces get the replacement in front: all, the one at the start of the text, none. */
typedef enum clf_prepend_scheme { CLF_PREPEND_ALWAYS, CLF_PREPEND_FIRST, CLF_PREPEND_NEVER } clf_prepend_scheme;

/* FORMAT: the replacement is missing or not one character. UNSUPPORTED: an unknown prepend_scheme. *replacement is borrowed from `json`. */
clf_status clfi_metaspace_read(const json_t *json, const char *where, const char **replacement, clf_prepend_scheme *scheme);

#endif
