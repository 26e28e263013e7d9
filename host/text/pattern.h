/* SPDX-License-Identifier: MIT */
/* A string or regular expression that a tokenizer's part searches, and the ways to split a text at its matches. */
#ifndef CLFI_TEXT_PATTERN_H
#define CLFI_TEXT_PATTERN_H

#include <jansson.h>

#include "text/regex.h"
#include "text/text_workspace.h"

typedef struct clf_pattern {
    clf_regex *regex; /* NULL: the string */
    char *text;
    size_t size;
} clf_pattern;

void clfi_pattern_free(clf_pattern *pattern);

/* Reads json["pattern"]: {"String": ...} or {"Regex": ...}. An empty string is found nowhere. FORMAT: it is neither or both. Statuses also
 * those of clfi_regex_create. */
clf_status clfi_pattern_read(const json_t *json, const char *where, clf_pattern *out);

/* Cuts text into work->matches: id 1 where the pattern matches, else 0. */
clf_status clfi_pattern_find(const clf_pattern *pattern, const char *text, size_t size, clf_text_workspace *work);

/* Treatment of the matches: dropped, a piece each, joined with the text before or after, runs of them one piece. */
typedef enum clf_cut {
    CLF_CUT_REMOVED,
    CLF_CUT_ISOLATED,
    CLF_CUT_MERGED_WITH_PREVIOUS,
    CLF_CUT_MERGED_WITH_NEXT,
    CLF_CUT_CONTIGUOUS
} clf_cut;

/* Reads json[key] as one of these. standard: the value if the key is missing; -1: the key is required. UNSUPPORTED: an unknown name. */
clf_status clfi_cut_read(const json_t *json, const char *where, const char *key, int standard, clf_cut *out);

/* Cuts a text at `matches` and appends the pieces that are not empty to `out`, moved by `offset` bytes. */
clf_status clfi_cut_apply(clf_cut cut, const clf_piece_list *matches, size_t offset, clf_piece_list *out);

#endif
