/* SPDX-License-Identifier: MIT */
/* Collects and prints the rows of clformer info. */
#include "cli/info_rows.h"

#include <stdio.h>
#include <string.h>

#include "console/json_line.h"
#include "console/terminal.h"
#include "io/json.h"

void cli_info_add(cli_info_rows *info, const char *name, json_t *value)
{
    json_t *row = json_pack("[s,o]", name, value);
    info->is_whole = row && json_array_append_new(info->rows, row) == 0 && info->is_whole;
}

void cli_info_text(cli_info_rows *info, const char *name, const char *text)
{
    cli_info_add(info, name, clfi_json_text(text, strlen(text)));
}

void cli_info_number(cli_info_rows *info, const char *name, int64_t number)
{
    cli_info_add(info, name, json_integer((json_int_t)number));
}

void cli_info_append(cli_info_rows *info, json_t *list, const char *text)
{
    info->is_whole = json_array_append_new(list, clfi_json_text(text, strlen(text))) == 0 && info->is_whole;
}

static clf_status print_json(const cli_info_rows *info)
{
    json_t *object = json_object();
    bool is_whole = info->is_whole && object;
    for (size_t i = 0; i < json_array_size(info->rows); i++) {
        const json_t *row = json_array_get(info->rows, i);
        is_whole = json_object_set(object, json_string_value(json_array_get(row, 0)), json_array_get(row, 1)) == 0 && is_whole;
    }
    return cli_json_print(object, is_whole, JSON_PRESERVE_ORDER, "info");
}

static void print_value(const json_t *value)
{
    if (json_is_integer(value))
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        cli_print_line(stdout, json_string_value(value), json_string_length(value), 0);
}

static clf_status print_text(const cli_info_rows *info)
{
    if (!info->is_whole)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "info: not enough memory");
    for (size_t i = 0; i < json_array_size(info->rows); i++) {
        const json_t *row = json_array_get(info->rows, i), *value = json_array_get(row, 1);
        const char *key;
        json_t *item;
        size_t shown = 0;
        printf("%-16s ", json_string_value(json_array_get(row, 0)));
        for (size_t k = 0; k < json_array_size(value); k++) {
            fputs(shown++ ? ", " : "", stdout);
            print_value(json_array_get(value, k));
        }
        json_object_foreach((json_t *)value, key, item)
        {
            fputs(shown++ ? ", " : "", stdout);
            cli_print_line(stdout, key, strlen(key), 0);
            fputs(json_is_string(item) ? " \"" : " ", stdout);
            print_value(item);
            fputs(json_is_string(item) ? "\"" : "", stdout);
        }
        if (json_is_array(value) || json_is_object(value))
            fputs(shown ? "" : "none", stdout);
        else
            print_value(value);
        putchar('\n');
    }
    return CLF_OK;
}

clf_status cli_info_print(const cli_info_rows *info, bool as_json)
{
    return as_json ? print_json(info) : print_text(info);
}
