/* SPDX-License-Identifier: MIT */
/* clformer tokenize: prints token ids of texts. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "jobs/inputs.h"
#include "console/json_line.h"
#include "console/standard_output.h"
#include "jobs/model_notes.h"
#include "text/tokenizer.h"

typedef enum cli_token_form { AS_IDS, AS_TEXT, AS_JSON } cli_token_form;

typedef struct cli_tokenize {
    cli_token_form form;
    const char *pair;
    clf_encode_options options;
} cli_tokenize;

static json_t *tokens_json(const clf_tokenizer *tokenizer, const clf_encoding *encoding)
{
    json_t *array = json_array();
    for (size_t i = 0; i < encoding->length; i++)
        json_array_append_new(array, json_string(clf_tokenizer_token(tokenizer, encoding->ids[i])));
    return array;
}

/* {"ids": [...], "tokens": [...], "type_ids": [...], "special_mask": [...], "offsets": [[start, end], ...], "truncated": false} */
static json_t *encoding_json(const clf_tokenizer *tokenizer, const clf_encoding *encoding)
{
    json_t *ids = json_array(), *types = json_array(), *mask = json_array(), *offsets = json_array();
    for (size_t i = 0; i < encoding->length; i++) {
        json_array_append_new(ids, json_integer(encoding->ids[i]));
        json_array_append_new(types, json_integer(encoding->type_ids[i]));
        json_array_append_new(mask, json_integer(encoding->special_mask[i]));
        json_array_append_new(offsets, json_pack("[I,I]", (json_int_t)encoding->offsets[i].start, (json_int_t)encoding->offsets[i].end));
    }
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:b}", "ids", ids, "tokens", tokens_json(tokenizer, encoding), "type_ids", types, "special_mask",
                     mask, "offsets", offsets, "truncated", encoding->truncated);
}

static clf_status print_json(json_t *json)
{
    return cli_json_print(json, true, JSON_COMPACT, "tokens");
}

static clf_status print_encoding(const clf_tokenizer *tokenizer, const clf_encoding *encoding, cli_token_form form)
{
    if (form != AS_IDS)
        return print_json(form == AS_TEXT ? tokens_json(tokenizer, encoding) : encoding_json(tokenizer, encoding));
    putchar('[');
    for (size_t i = 0; i < encoding->length; i++)
        printf("%s%d", i ? ", " : "", encoding->ids[i]);
    puts("]");
    return CLF_OK;
}

static clf_status tokenize(const char *directory, cli_inputs *inputs, const cli_tokenize *job)
{
    clf_tokenizer *tokenizer;
    clf_encoding encoding = CLF_ENCODING_INIT;
    clf_status st;
    CLF_TRY(clf_tokenizer_open(directory, &tokenizer));
    cli_tokenizer_note(tokenizer, directory, cli_note_print, NULL);
    do {
        CLF_GOTO(cli_inputs_next(inputs));
        for (size_t i = 0; i < inputs->count; i++) {
            const clf_text *text = &inputs->texts[i];
            st = clfi_tokenizer_encode(tokenizer, text->data, text->size, job->pair, job->pair ? strlen(job->pair) : 0, &job->options,
                                       &encoding);
            CLF_GOTO(cli_inputs_blame(inputs, &i, st));
            CLF_GOTO(print_encoding(tokenizer, &encoding, job->form));
        }
        CLF_GOTO(cli_output_flush());
    } while (inputs->count > 0);
done:
    clfi_encoding_free(&encoding);
    clf_tokenizer_destroy(tokenizer);
    return st;
}

int cmd_tokenize(const cli_command *self, int argc, char **argv)
{
    const char *file = NULL;
    cli_tokenize job = {.form = AS_IDS};
    int as_text = 0, as_json = 0, no_special = 0, no_special_tokens = 0, unit = -1, positional;
    const cli_option table[] = {
        CLI_INPUTS_OPTION(file),
        {"text", 0, NULL, "print the tokens instead of their ids", CLI_FLAG, &as_text},
        {"json", 0, NULL, "print one object per text: ids, tokens, type_ids, special_mask, offsets, truncated", CLI_FLAG, &as_json},
        {"offsets", 0, "characters|bytes", "unit of the offsets, with --json (default: characters)", CLI_CHOICE, &unit},
        {"pair", 0, "TEXT", "encode each text as a pair with this second text", CLI_TEXT, &job.pair},
        {"no-special-tokens", 0, NULL, "do not add [CLS], [SEP] and the like", CLI_FLAG, &no_special_tokens},
        {"no-special", 0, NULL, "read special tokens written in a text as plain text", CLI_FLAG, &no_special},
        {"max-tokens", 0, "N", "cut longer texts (default: no limit)", CLI_SIZE, &job.options.max_tokens},
    };
    cli_inputs *inputs = NULL;
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && (as_text + as_json > 1 || (unit >= 0 && !as_json)))
        st = clfi_fail(CLF_INVALID_ARGUMENT, as_text ? "--text excludes --json and --offsets" : "--offsets needs --json");
    if (st == CLF_OK)
        st = cli_inputs_open_after_model(self, argv, positional, file, &inputs);
    if (st == CLF_OK) {
        job.form = as_json ? AS_JSON : as_text ? AS_TEXT : AS_IDS;
        job.options.add_special_tokens = !no_special_tokens;
        job.options.ignore_special = no_special;
        job.options.offsets = !as_json ? CLF_OFFSETS_NONE : unit == 1 ? CLF_OFFSETS_BYTES : CLF_OFFSETS_CHARACTERS;
        st = tokenize(argv[0], inputs, &job);
    }
    cli_inputs_close(inputs);
    return st == CLF_OK ? 0 : cli_fail(st);
}
