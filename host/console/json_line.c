/* SPDX-License-Identifier: MIT */
/* Prints JSON on standard output. */
#include "console/json_line.h"

#include <stdio.h>

#include "base/str.h"
#include "console/progress.h"
#include "io/json.h"

clf_status cli_json_print(json_t *value, bool is_whole, size_t flags, const char *what)
{
    clf_str text = CLF_STR_INIT;
    const clf_status st = clfi_json_write(is_whole ? value : NULL, flags, what, &text);
    json_decref(value);
    if (st == CLF_OK) {
        cli_line_clear();
        puts(text.data);
    }
    clfi_str_free(&text);
    return st;
}
