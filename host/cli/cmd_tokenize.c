/* SPDX-License-Identifier: MIT */
/* clformer tokenize: what the tokenizer makes of texts. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/inputs.h"
#include "text/tokenizer.h"

static clf_status print_tokens(const clf_tokenizer *tokenizer, const clf_encoding *encoding, int as_text)
{
    if (!as_text) {
        putchar('[');
        for (size_t i = 0; i < encoding->length; i++)
            printf("%s%d", i ? ", " : "", encoding->ids[i]);
        puts("]");
        return CLF_OK;
    }
    json_t *array = json_array();
    for (size_t i = 0; i < encoding->length; i++)
        json_array_append_new(array, json_string(clfi_tokenizer_token(tokenizer, encoding->ids[i])));
    char *line = json_dumps(array, JSON_COMPACT);
    json_decref(array);
    if (!line)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "tokens as JSON");
    puts(line);
    free(line);
    return CLF_OK;
}

static clf_status tokenize(const char *directory, cli_inputs *inputs, const clf_encode_options *options, int as_text)
{
    clf_tokenizer *tokenizer;
    clf_encoding encoding = CLF_ENCODING_INIT;
    clf_status st;
    CLF_TRY(clfi_tokenizer_open(directory, &tokenizer));
    do {
        CLF_GOTO(cli_inputs_next(inputs));
        for (size_t i = 0; i < inputs->count; i++) {
            const clf_text *text = &inputs->texts[i];
            CLF_GOTO(clfi_tokenizer_encode(tokenizer, text->data, text->size, NULL, 0, options, &encoding));
            CLF_GOTO(print_tokens(tokenizer, &encoding, as_text));
        }
    } while (inputs->count > 0);
done:
    clfi_encoding_free(&encoding);
    clfi_tokenizer_destroy(tokenizer);
    return st;
}

int cmd_tokenize(const cli_command *self, int argc, char **argv)
{
    const char *file = NULL;
    int as_text = 0, no_special = 0, positional;
    size_t max_tokens = 0;
    const cli_option table[] = {
        CLI_INPUTS_OPTION(file),
        {"text", 0, NULL, "print the tokens instead of their ids", CLI_FLAG, &as_text},
        {"no-special-tokens", 0, NULL, "do not add [CLS], [SEP] and the like", CLI_FLAG, &no_special},
        {"max-tokens", 0, "N", "cut longer texts (default: no limit)", CLI_SIZE, &max_tokens},
    };
    cli_inputs *inputs = NULL;
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK)
        st = cli_inputs_open_after_model(self, argv, positional, file, &inputs);
    if (st == CLF_OK)
        st = tokenize(argv[0], inputs, &(clf_encode_options){.add_special_tokens = !no_special, .max_tokens = max_tokens}, as_text);
    cli_inputs_close(inputs);
    return st == CLF_OK ? 0 : cli_fail(st);
}
