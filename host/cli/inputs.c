/* SPDX-License-Identifier: MIT */
/* Texts of a command. */
#include "cli/inputs.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"

enum { WINDOW_BYTES = 64 << 20 }; /* a window also ends here: long texts must not pile up */

static clf_status open_stream(cli_inputs *inputs, const char *name)
{
    const bool is_stdin = strcmp(name, "-") == 0;
    const size_t length = strlen(name);
    inputs->stream = is_stdin ? stdin : fopen(name, "rbe");
    if (!inputs->stream)
        CLF_FAIL(errno == ENOENT ? CLF_NOT_FOUND : CLF_IO, "open %s: %s", name, strerror(errno));
    inputs->owns_stream = !is_stdin;
    inputs->name = is_stdin ? "standard input" : name;
    inputs->is_jsonl = length >= 6 && strcmp(name + length - 6, ".jsonl") == 0;
    inputs->line_number = 0;
    return CLF_OK;
}

static void close_stream(cli_inputs *inputs)
{
    if (inputs->stream && inputs->owns_stream)
        fclose(inputs->stream);
    inputs->stream = NULL;
}

clf_status cli_inputs_open(char **arguments, int argument_count, const char *file, cli_inputs **out)
{
    cli_inputs *inputs;
    if (argument_count == 0 && !file)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "no texts: give them as arguments, by --file F, or - for standard input");
    CLF_TRY(clfi_alloc(1, sizeof *inputs, "inputs", &inputs));
    inputs->arguments = arguments;
    inputs->argument_count = argument_count;
    const clf_status st = file ? open_stream(inputs, file) : CLF_OK;
    if (st != CLF_OK) {
        cli_inputs_close(inputs);
        return st;
    }
    *out = inputs;
    return CLF_OK;
}

clf_status cli_inputs_open_after_model(const cli_command *command, char **positional, int count, const char *file, cli_inputs **out)
{
    if (count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: no model directory; usage: clformer %s %s", command->name, command->name, command->arguments);
    return cli_inputs_open(positional + 1, count - 1, file, out);
}

void cli_inputs_close(cli_inputs *inputs)
{
    if (!inputs)
        return;
    close_stream(inputs);
    free(inputs->line);
    clfi_str_free(&inputs->bytes);
    free(inputs);
}

/* Texts are kept by offset while `bytes` may still move; cli_inputs_next turns offsets into pointers. */
static clf_status add_text(cli_inputs *inputs, const char *data, size_t size)
{
    inputs->texts[inputs->count++] = (clf_text){(const char *)(uintptr_t)inputs->bytes.length, size};
    return clfi_str_append(&inputs->bytes, data, size);
}

static clf_status add_json_line(cli_inputs *inputs, size_t length)
{
    char where[512];
    json_t *json;
    snprintf(where, sizeof where, "%s: line %zu", inputs->name, inputs->line_number);
    CLF_TRY(clfi_json_parse(inputs->line, length, where, &json));
    const json_t *text = json_is_object(json) ? json_object_get(json, "text") : json;
    const clf_status st = json_is_string(text)
                              ? add_text(inputs, json_string_value(text), json_string_length(text))
                              : clfi_fail(CLF_FORMAT, "%s: expected a JSON string or an object with \"text\"", where);
    json_decref(json);
    return st;
}

static clf_status read_line(cli_inputs *inputs)
{
    errno = 0;
    const ssize_t got = getline(&inputs->line, &inputs->line_capacity, inputs->stream);
    if (got < 0) {
        const bool failed = ferror(inputs->stream) || (!feof(inputs->stream) && errno);
        const clf_status st =
            failed ? clfi_fail(errno == ENOMEM ? CLF_OUT_OF_MEMORY : CLF_IO, "read %s: %s", inputs->name, strerror(errno)) : CLF_OK;
        close_stream(inputs);
        return st;
    }
    size_t length = (size_t)got;
    inputs->line_number++;
    if (length && inputs->line[length - 1] == '\n')
        length--;
    if (length && inputs->line[length - 1] == '\r')
        length--;
    if (!inputs->is_jsonl)
        return add_text(inputs, inputs->line, length);
    return strspn(inputs->line, " \t") == length ? CLF_OK : add_json_line(inputs, length); /* blank lines hold no text in .jsonl */
}

clf_status cli_inputs_next(cli_inputs *inputs)
{
    inputs->count = 0;
    clfi_str_clear(&inputs->bytes);
    while (inputs->count < CLI_WINDOW && inputs->bytes.length < WINDOW_BYTES) {
        if (inputs->argument_count > 0 && !(inputs->stream && inputs->owns_stream)) {
            const char *argument = *inputs->arguments;
            if (inputs->stream == NULL) {
                inputs->arguments++;
                inputs->argument_count--;
                CLF_TRY(strcmp(argument, "-") == 0 ? open_stream(inputs, "-") : add_text(inputs, argument, strlen(argument)));
                continue;
            }
        }
        if (!inputs->stream)
            break;
        CLF_TRY(read_line(inputs));
    }
    for (size_t i = 0; i < inputs->count; i++)
        inputs->texts[i].data = clfi_str_text(&inputs->bytes) + (uintptr_t)inputs->texts[i].data;
    return CLF_OK;
}
