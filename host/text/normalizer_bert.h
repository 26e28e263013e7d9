/* SPDX-License-Identifier: MIT */
/* BERT's text normalisation: cleaning, spaces around ideographs, accent stripping, lower-casing, in this order. */
#ifndef CLFI_TEXT_NORMALIZER_BERT_H
#define CLFI_TEXT_NORMALIZER_BERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "text/text_workspace.h"

typedef struct clf_normalizer_bert {
    bool clean_text;           /* drop U+0000, U+FFFD and control characters; every white space becomes a space */
    bool handle_chinese_chars; /* put a space on both sides of an ideograph */
    bool strip_accents;        /* canonical decomposition (NFD), then drop nonspacing marks */
    bool lowercase;            /* full lower case, character by character */
} clf_normalizer_bert;

/* Appends the normal form of UTF-8 text[0..size) to `out`. With no flag set this is a copy. `run` is working memory, empty before and
 * after. Source: the BasicTokenizer of google-research/bert, with the order of steps of Hugging Face's BertNormalizer. */
clf_status clfi_normalize_bert(const clf_normalizer_bert *normalizer, const char *text, size_t size, clf_code_list *run, clf_str *out);

#endif
