/* SPDX-License-Identifier: MIT */
/* Reads languages from a model's card, the front matter of its README.md, for clformer info and clformer search. */
#ifndef CLFI_CLI_MODEL_CARD_H
#define CLFI_CLI_MODEL_CARD_H

#include <jansson.h>

#include "base/status.h"

/* *out: the languages that the card names under `language`, in its order, as a new array of strings that the caller releases. NULL: the
 * directory has no card, or the card names none. A card that cannot be read counts as none. OUT_OF_MEMORY. */
clf_status cli_card_languages(const char *directory, json_t **out);

#endif
