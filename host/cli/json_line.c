/* SPDX-License-Identifier: MIT */
/* JSON on standard output. */
#include "cli/json_line.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/progress.h"

clf_status cli_json_print(json_t *value, bool is_whole, size_t flags, const char *what)
{
    char *text = value && is_whole ? json_dumps(value, flags) : NULL;
    json_decref(value);
    if (!text)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s as JSON: not enough memory", what);
    cli_line_clear();
    puts(text);
    free(text);
    return CLF_OK;
}
