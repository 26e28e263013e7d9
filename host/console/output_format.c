/* SPDX-License-Identifier: MIT */
/* Chooses the format of an output by --format or by the extension of its file name. */
#include "console/output_format.h"

#include <stdbool.h>
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* Choice number `index` of "a|b|c" and its length. */
static const char *choice(const char *choices, int index, int *length)
{
    for (; index > 0; index--)
        choices += strcspn(choices, "|") + 1;
    *length = (int)strcspn(choices, "|");
    return choices;
}

clf_status cli_format_choose(const char *path, const cli_format_end *ends, size_t count, const char *choices, int *format)
{
    for (size_t i = 0; path && i < count; i++) {
        if (!ends_with(path, ends[i].end))
            continue;
        if (*format != CLI_FORMAT_UNSET && *format != ends[i].format) {
            int given_length, named_length;
            const char *given = choice(choices, *format, &given_length), *named = choice(choices, ends[i].format, &named_length);
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--format %.*s contradicts -o %s, whose name says %.*s", given_length, given, path, named_length,
                     named);
        }
        *format = ends[i].format;
    }
    return CLF_OK;
}
