/* SPDX-License-Identifier: MIT */
/* Skips byte order marks and refuses encodings other than UTF-8. */
#include "base/text_start.h"

#include <stdbool.h>
#include <string.h>

/* UTF-32 comes first, because the mark of UTF-32LE begins with that of UTF-16LE. */
static const struct {
    const char *mark;
    size_t size;
    const char *name;
} marks[] = {{"\xff\xfe\0\0", 4, "UTF-32LE"}, {"\0\0\xfe\xff", 4, "UTF-32BE"}, {"\xff\xfe", 2, "UTF-16LE"}, {"\xfe\xff", 2, "UTF-16BE"}};

/* Names the encoding of a text without a mark that begins with ASCII characters. It shows in which of the first four bytes are NUL (RFC
 * 4627, section 3). NULL: UTF-8. */
static const char *name_by_nuls(const char *bytes, size_t size)
{
    static const struct {
        bool is_nul[4];
        const char *name;
    } rows[] = {{{true, true, true, false}, "UTF-32BE"},
                {{false, true, true, true}, "UTF-32LE"},
                {{true, false, true, false}, "UTF-16BE"},
                {{false, true, false, true}, "UTF-16LE"}};
    for (size_t i = 0; size >= 4 && i < COUNT(rows); i++) {
        bool matches = true;
        for (size_t k = 0; k < 4; k++)
            matches = matches && (bytes[k] == '\0') == rows[i].is_nul[k];
        if (matches)
            return rows[i].name;
    }
    return NULL;
}

clf_status clfi_text_start(const char *bytes, size_t size, const char *name, size_t *out_skip)
{
    const char *encoding = NULL;
    for (size_t i = 0; !encoding && i < COUNT(marks); i++)
        if (size >= marks[i].size && memcmp(bytes, marks[i].mark, marks[i].size) == 0)
            encoding = marks[i].name;
    if (!encoding)
        encoding = name_by_nuls(bytes, size);
    if (encoding)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected UTF-8 (iconv -f %s -t UTF-8 FILE > NEW)", name, encoding, encoding);
    *out_skip = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return CLF_OK;
}

clf_status clfi_text_skip_mark(const char *name, clf_str *text)
{
    size_t skip;
    CLF_TRY(clfi_text_start(clfi_str_text(text), text->length, name, &skip));
    if (skip) {
        memmove(text->data, text->data + skip, text->length - skip + 1); /* with the NUL after it */
        text->length -= skip;
    }
    return CLF_OK;
}
