/* SPDX-License-Identifier: MIT */
/* Output of clformer info: rows of names and values, printed as lines or as one JSON object. */
#ifndef CLFI_CLI_INFO_ROWS_H
#define CLFI_CLI_INFO_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Rows [name, value], in the order in which they are printed; the first failure sticks. */
typedef struct cli_info_rows {
    json_t *rows;  /* an array; the caller makes and releases it */
    bool is_whole; /* true at first; false: memory was lacking, and rows are missing */
} cli_info_rows;

void cli_info_add(cli_info_rows *info, const char *name, json_t *value); /* takes over the reference to the value */
void cli_info_text(cli_info_rows *info, const char *name, const char *text);
void cli_info_number(cli_info_rows *info, const char *name, int64_t number);

/* Appends a text to `list`, the value of a row. */
void cli_info_append(cli_info_rows *info, json_t *list, const char *text);

/* Prints the rows on standard output. OUT_OF_MEMORY: rows are missing. */
clf_status cli_info_print(const cli_info_rows *info, bool as_json);

#endif
