/* SPDX-License-Identifier: MIT */
/* Small tokenizers of the model families (tests/data/tokenizer/families). */
#ifndef TESTS_SUPPORT_TOKENIZER_FAMILY_H
#define TESTS_SUPPORT_TOKENIZER_FAMILY_H

#include "clformer/tokenizer.h"

/* The tokenizer of a family, such as "gpt2"; the caller destroys it. */
clf_tokenizer *tokenizer_family(const char *name);

#endif
