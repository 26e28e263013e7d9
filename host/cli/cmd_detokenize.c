/* SPDX-License-Identifier: MIT */
/* clformer detokenize: turns token ids back into text. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/commands.h"
#include "jobs/inputs.h"
#include "console/json_line.h"
#include "console/standard_output.h"
#include "clformer/tokenizer.h"
#include "io/json.h"

typedef struct cli_ids {
    int32_t *ids;
    size_t count, capacity;
} cli_ids;

static clf_status add_id(long long id, const clf_tokenizer *tokenizer, cli_ids *list)
{
    const size_t size = clf_tokenizer_vocabulary_size(tokenizer);
    if (id < 0 || (uint64_t)id >= size || !clf_tokenizer_token(tokenizer, (int32_t)id))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "token id %lld is unknown: the vocabulary's ids go up to %zu", id, size - 1);
    CLF_TRY(clfi_grow(&list->ids, &list->capacity, list->count + 1, sizeof *list->ids, "token ids"));
    list->ids[list->count++] = (int32_t)id;
    return CLF_OK;
}

/* Appends the ids of a text: "101 7592 102" or "[101, 7592, 102]". */
static clf_status read_ids(const char *text, const clf_tokenizer *tokenizer, cli_ids *list)
{
    static const char between[] = " \t,[]";
    for (const char *at = text + strspn(text, between); *at; at += strspn(at, between)) {
        char *end;
        errno = 0;
        const long long id = strtoll(at, &end, 10);
        if (errno || !isdigit((unsigned char)at[*at == '-']) || (*end && !strchr(between, *end)))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "token ids: expected numbers, found \"%.80s\"", at);
        CLF_TRY(add_id(id, tokenizer, list));
        at = end;
    }
    return CLF_OK;
}

/* Appends the ids of an object {"ids": [101, 7592, 102]}; other keys are ignored. */
static clf_status read_object(const clf_str *line, const clf_tokenizer *tokenizer, cli_ids *list)
{
    json_t *json;
    CLF_TRY(clfi_json_parse_line(line->data, line->length, "token ids", &json));
    const json_t *ids = json_object_get(json, "ids");
    clf_status st = json_is_array(ids) ? CLF_OK : clfi_fail(CLF_FORMAT, "token ids: expected an object with an array \"ids\"");
    for (size_t i = 0; st == CLF_OK && i < json_array_size(ids); i++) {
        const json_t *id = json_array_get(ids, i);
        st = json_is_integer(id) ? add_id(json_integer_value(id), tokenizer, list)
                                 : clfi_fail(CLF_FORMAT, "token ids: \"ids\"[%zu]: expected a whole number", i);
    }
    json_decref(json);
    return st;
}

/* Reads the ids of a line that tokenize printed, with or without --json. */
static clf_status read_line(const clf_str *line, const clf_tokenizer *tokenizer, cli_ids *list)
{
    const char *text = clfi_str_text(line);
    list->count = 0;
    if (text[strspn(text, " \t")] == '{')
        return read_object(line, tokenizer, list);
    if (strlen(text) < line->length)
        CLF_FAIL(CLF_FORMAT, "token ids: expected numbers, found a NUL");
    return read_ids(text, tokenizer, list);
}

static clf_status print_text(clf_token_decoder *decoder, const cli_ids *list, int as_json)
{
    clf_text text;
    CLF_TRY(clf_token_decoder_decode(decoder, list->ids, list->count, &text));
    if (!as_json) {
        fwrite(text.data, 1, text.size, stdout);
        putchar('\n');
        return CLF_OK;
    }
    json_t *string = json_stringn(text.data, text.size);
    return cli_json_print(string, true, JSON_ENCODE_ANY, "text");
}

/* Ids in the arguments are one text; each line of the file is another. */
static clf_status detokenize(const char *directory, char **arguments, int count, cli_inputs *inputs, int skip_special, int as_json)
{
    clf_status st;
    clf_tokenizer *tokenizer = NULL;
    clf_token_decoder *decoder = NULL;
    cli_ids list = {0};
    clf_str line = CLF_STR_INIT;
    CLF_GOTO(clf_tokenizer_open_target(directory, &tokenizer));
    CLF_GOTO(clf_token_decoder_create(tokenizer, skip_special, &decoder));
    for (int i = 0; i < count; i++)
        CLF_GOTO(read_ids(arguments[i], tokenizer, &list));
    if (count > 0)
        CLF_GOTO(print_text(decoder, &list, as_json));
    while (inputs) {
        CLF_GOTO(cli_inputs_next(inputs));
        if (inputs->count == 0)
            break;
        for (size_t i = 0; i < inputs->count; i++) {
            clfi_str_clear(&line);
            CLF_GOTO(clfi_str_append(&line, inputs->texts[i].data, inputs->texts[i].size));
            CLF_GOTO(cli_inputs_blame(inputs, &i, read_line(&line, tokenizer, &list)));
            CLF_GOTO(print_text(decoder, &list, as_json));
        }
        CLF_GOTO(cli_output_flush());
    }
done:
    free(list.ids);
    clfi_str_free(&line);
    clf_token_decoder_destroy(decoder);
    clf_tokenizer_destroy(tokenizer);
    return st;
}

int cmd_detokenize(const cli_command *self, int argc, char **argv)
{
    const char *file = NULL;
    int skip_special = 0, as_json = 0, positional;
    const cli_option table[] = {
        {"file", 'f', "F", "token ids of one text per line, as tokenize prints them, with or without --json; - is standard input",
         CLI_TEXTS, &file},
        {"skip-special", 0, NULL, "do not print special tokens", CLI_FLAG, &skip_special},
        {"json", 0, NULL, "print JSON strings", CLI_FLAG, &as_json},
    };
    cli_inputs *inputs = NULL;
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional == 2 && !file && strcmp(argv[1], "-") == 0) {
        file = argv[1];
        positional--;
    }
    if (st == CLF_OK && (positional < 1 || (positional == 1 && !file)))
        st = cli_refuse(self, "expected a model directory and token ids");
    if (st == CLF_OK && file)
        st = cli_inputs_open(NULL, 0, file, &inputs);
    if (inputs)
        inputs->is_jsonl = false; /* a line holds ids and no text */
    if (st == CLF_OK)
        st = detokenize(argv[0], argv + 1, positional - 1, inputs, skip_special, as_json);
    cli_inputs_close(inputs);
    return st == CLF_OK ? 0 : cli_fail(st);
}
