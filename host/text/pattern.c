/* SPDX-License-Identifier: MIT */
/* Finds a pattern in a text and splits the text there. */
#include "text/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"

void clfi_pattern_free(clf_pattern *pattern)
{
    clfi_regex_destroy(pattern->regex);
    free(pattern->text);
    *pattern = (clf_pattern){0};
}

clf_status clfi_pattern_read(const json_t *json, const char *where, clf_pattern *out)
{
    const json_t *object;
    const char *text, *regex;
    CLF_TRY(clfi_json_get_object(json, where, "pattern", &object));
    CLF_TRY(clfi_json_opt_string(object, where, "String", NULL, &text));
    CLF_TRY(clfi_json_opt_string(object, where, "Regex", NULL, &regex));
    if (!text == !regex) {
        char found[CLFI_JSON_FOUND_BYTES];
        CLF_FAIL(CLF_FORMAT, "%s: pattern: expected a String or a Regex, found %s", where, clfi_json_found(object, found));
    }
    if (regex)
        return clfi_regex_create(regex, where, &out->regex);
    CLF_TRY(clfi_strdup(text, &out->text));
    out->size = strlen(text);
    return CLF_OK;
}

static clf_status find_string(const clf_pattern *pattern, const char *text, size_t size, clf_piece_list *matches)
{
    size_t done = 0;
    while (pattern->size && done < size) {
        const char *hit = memmem(text + done, size - done, pattern->text, pattern->size);
        if (!hit)
            break;
        const size_t start = (size_t)(hit - text);
        if (done < start)
            CLF_TRY(clfi_piece_append(matches, done, start, 0));
        CLF_TRY(clfi_piece_append(matches, start, start + pattern->size, 1));
        done = start + pattern->size;
    }
    return done < size ? clfi_piece_append(matches, done, size, 0) : CLF_OK;
}

clf_status clfi_pattern_find(const clf_pattern *pattern, const char *text, size_t size, clf_text_workspace *work)
{
    work->matches.count = 0;
    if (pattern->regex)
        return clfi_regex_find(pattern->regex, text, size, &work->regex, &work->matches);
    return find_string(pattern, text, size, &work->matches);
}

clf_status clfi_cut_read(const json_t *json, const char *where, const char *key, int standard, clf_cut *out)
{
    static const char *const names[] = {[CLF_CUT_REMOVED] = "Removed",
                                        [CLF_CUT_ISOLATED] = "Isolated",
                                        [CLF_CUT_MERGED_WITH_PREVIOUS] = "MergedWithPrevious",
                                        [CLF_CUT_MERGED_WITH_NEXT] = "MergedWithNext",
                                        [CLF_CUT_CONTIGUOUS] = "Contiguous"};
    const char *name;
    if (standard >= 0)
        CLF_TRY(clfi_json_opt_string(json, where, key, names[standard], &name));
    else
        CLF_TRY(clfi_json_get_string(json, where, key, &name));
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(names[i], name) == 0) {
            *out = (clf_cut)i;
            return CLF_OK;
        }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: %s \"%s\"; known are Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous", where, key,
             name);
}

/* Whether match or gap i begins a piece of its own. Merging joins one match to the text beside it: the nearest of several in a row. */
static bool begins_piece(clf_cut cut, const clf_piece_list *matches, size_t i)
{
    const clf_piece *m = matches->pieces;
    if (i == 0)
        return true;
    switch (cut) {
    case CLF_CUT_CONTIGUOUS: return m[i].id != m[i - 1].id;
    case CLF_CUT_MERGED_WITH_PREVIOUS: return !(m[i].id && !m[i - 1].id);
    case CLF_CUT_MERGED_WITH_NEXT: return !(m[i - 1].id && !m[i].id);
    default: return true;
    }
}

clf_status clfi_cut_apply(clf_cut cut, const clf_piece_list *matches, size_t offset, clf_piece_list *out)
{
    for (size_t i = 0; i < matches->count;) {
        const size_t first = i++;
        while (i < matches->count && !begins_piece(cut, matches, i))
            i++;
        const size_t start = matches->pieces[first].start, end = matches->pieces[i - 1].end;
        if (start < end && !(cut == CLF_CUT_REMOVED && matches->pieces[first].id))
            CLF_TRY(clfi_piece_append(out, start + offset, end + offset, -1));
    }
    return CLF_OK;
}
