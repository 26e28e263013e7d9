/* SPDX-License-Identifier: MIT */
/* Reads the card of a model: the front matter of README.md, as the hub reads it. */
#ifndef CLFI_CLI_MODEL_CARD_H
#define CLFI_CLI_MODEL_CARD_H

#include <jansson.h>

#include "base/status.h"

/* The languages that the card names under `language`, in its order, as a new array of strings; *out NULL: the directory has no card, or the
 * card names none. A card that cannot be read counts as none. OUT_OF_MEMORY. */
clf_status cli_card_languages(const char *directory, json_t **out);

#endif
