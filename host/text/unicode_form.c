/* SPDX-License-Identifier: MIT */
/* Decomposes texts with canonical ordering, then composes them in place. The `change` of a character follows the rule of the reference
 * tokenizers: a reordered character keeps its change; a composed one has the sum of both, minus 1. */
#include "text/unicode_form.h"

#include "base/utf8.h"
#include "text/unicode.h"

/* Appends the waiting marks by combining class, and within a class as they came. */
static clf_status flush_marks(clf_code_list *marks, clf_code_list *out)
{
    if (marks->count == 1)
        CLF_TRY(clfi_code_append(out, marks->codes[0].code, marks->codes[0].change));
    else if (marks->count > 1)
        for (unsigned class = 0, next; class != 256; class = next) {
            next = 256;
            for (size_t i = 0; i < marks->count; i++) {
                const unsigned own = clfi_char_combining_class(marks->codes[i].code);
                if (own == class)
                    CLF_TRY(clfi_code_append(out, marks->codes[i].code, marks->codes[i].change));
                else if (own > class && own < next)
                    next = own;
            }
        }
    marks->count = 0;
    return CLF_OK;
}

static clf_status decompose(bool compatible, uint32_t code, clf_code_list *marks, clf_code_list *out)
{
    uint32_t parts[CLFI_COMPATIBILITY_MAX];
    const size_t count = compatible ? clfi_char_decompose_compatibly(code, parts) : clfi_char_decompose(code, parts);
    for (size_t i = 0; i < count; i++) {
        const int change = i > 0;
        if (clfi_char_combining_class(parts[i])) {
            CLF_TRY(clfi_code_append(marks, parts[i], change));
        } else {
            CLF_TRY(flush_marks(marks, out));
            CLF_TRY(clfi_code_append(out, parts[i], change));
        }
    }
    return CLF_OK;
}

/* Composes by UAX 15: `starter` composes with a following character unless one of the same or a higher class stands between. */
static void compose(clf_code_list *list)
{
    enum { NONE = -1 };
    clf_changed_code *codes = list->codes;
    size_t written = 0, starter = SIZE_MAX;
    int last_class = NONE;
    for (size_t i = 0; i < list->count; i++) {
        const clf_changed_code next = codes[i];
        const int class = clfi_char_combining_class(next.code);
        uint32_t composed;
        if (starter != SIZE_MAX && last_class < class &&
            clfi_char_compose(codes[starter].code, next.code, &composed)) {
            codes[starter].code = composed;
            codes[starter].change += next.change - 1;
            continue;
        }
        if (class == 0) {
            starter = written;
            last_class = NONE;
        } else {
            last_class = class;
        }
        codes[written++] = next;
    }
    list->count = written;
}

clf_status clfi_unicode_form_of(clf_unicode_form form, const char *text, size_t size, clf_text_workspace *work)
{
    work->codes.count = work->marks.count = 0;
    for (size_t i = 0; i < size;) {
        uint32_t code;
        i += clfi_utf8_decode((const unsigned char *)text + i, size - i, &code);
        if (code < 0x80) {
            CLF_TRY(flush_marks(&work->marks, &work->codes));
            CLF_TRY(clfi_code_append(&work->codes, code, 0));
        } else {
            CLF_TRY(decompose(form.compatible, code, &work->marks, &work->codes));
        }
    }
    CLF_TRY(flush_marks(&work->marks, &work->codes));
    if (form.composed)
        compose(&work->codes);
    return CLF_OK;
}
