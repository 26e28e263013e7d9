/* SPDX-License-Identifier: MIT */
/* Reads the texts of a command from arguments, files or standard input. */
#include "jobs/inputs.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/utf8.h"
#include "console/progress.h"
#include "io/json.h"
#include "io/json_python.h"

enum {
    WINDOW_BYTES = 64 << 20,  /* a window of long texts ends at this size, to limit memory */
    LINE_BYTES = WINDOW_BYTES /* the longest line */
};

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
    struct stat info = {0};
    if (!is_stdin && fstat(fileno(inputs->stream), &info) == 0 && S_ISREG(info.st_mode))
        inputs->file_bytes = (uint64_t)info.st_size;
    inputs->opened = info;
    return CLF_OK;
}

clf_status cli_inputs_check_stays(const cli_inputs *inputs)
{
    const struct stat *then = &inputs->opened;
    struct stat now;
    if (!inputs->stays || !inputs->owns_stream || !S_ISREG(then->st_mode))
        return CLF_OK;
    if (stat(inputs->name, &now) != 0)
        return clfi_fail_errno("stat", inputs->name);
    if (!clfi_file_is_same(&now, then))
        CLF_FAIL(CLF_IO, "%s: the file changed while it was being read", inputs->name);
    return CLF_OK;
}

static void close_stream(cli_inputs *inputs)
{
    if (inputs->stream)
        cli_ill_formed_say(&inputs->ill_formed, inputs->name);
    if (inputs->stream && inputs->owns_stream)
        fclose(inputs->stream);
    inputs->stream = NULL;
}

clf_status cli_inputs_open(char **arguments, int argument_count, const char *file, cli_inputs **out)
{
    cli_inputs *inputs;
    if (argument_count == 0 && !file)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "no texts (give them as arguments, by --file F, or - for standard input)");
    CLF_TRY(clfi_alloc(1, sizeof *inputs, "inputs", &inputs));
    inputs->unit = "line";
    inputs->arguments = arguments;
    inputs->argument_count = inputs->argument_total = argument_count;
    const clf_status st = file ? open_stream(inputs, file) : CLF_OK;
    if (st != CLF_OK) {
        cli_inputs_close(inputs);
        return st;
    }
    *out = inputs;
    return CLF_OK;
}

/* Returns the bytes of all files together; 0 if one of them is not a regular file. */
static uint64_t sum_bytes(const char *const *files, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat info;
        if (stat(files[i], &info) != 0 || !S_ISREG(info.st_mode))
            return 0;
        sum += (uint64_t)info.st_size;
    }
    return sum;
}

clf_status cli_inputs_open_files(const char *const *files, size_t count, cli_inputs **out)
{
    CLF_TRY(cli_inputs_open(NULL, 0, files[0], out));
    (*out)->more_files = files + 1;
    (*out)->more_count = count - 1;
    (*out)->file_bytes = sum_bytes(files, count);
    return CLF_OK;
}

static clf_status open_next(cli_inputs *inputs)
{
    const uint64_t all = inputs->file_bytes;
    const clf_status st = open_stream(inputs, *inputs->more_files);
    inputs->file_bytes = all;
    inputs->more_files++;
    inputs->more_count--;
    inputs->file_index++;
    return st;
}

clf_status cli_inputs_of_pairs(const clf_text_pair *pairs, const size_t *numbers, size_t count, const char *name, cli_inputs **out)
{
    cli_inputs *inputs;
    CLF_TRY(clfi_alloc(1, sizeof *inputs, "inputs", &inputs));
    inputs->unit = "text";
    inputs->name = name;
    inputs->given = pairs;
    inputs->given_numbers = numbers;
    inputs->given_count = inputs->given_total = count;
    *out = inputs;
    return CLF_OK;
}

clf_status cli_inputs_open_after_model(const cli_command *command, char **positional, int count, const char *file, cli_inputs **out)
{
    if (count == 0)
        return cli_refuse(command, "no model");
    if (count == 1 && !file)
        return cli_refuse(command, "no texts after the model \"%s\"", positional[0]);
    return cli_inputs_open(positional + 1, count - 1, file, out);
}

void cli_inputs_close(cli_inputs *inputs)
{
    if (!inputs)
        return;
    close_stream(inputs);
    clfi_str_free(&inputs->line);
    clfi_str_free(&inputs->bytes);
    free(inputs);
}

static cli_place place_here(const cli_inputs *inputs)
{
    return (cli_place){inputs->name, inputs->stream ? inputs->line_number : 0};
}

/* Adds a text by its offset in `bytes`, which may still move; cli_inputs_next turns offsets into pointers. */
static clf_status add_text(cli_inputs *inputs, const char *data, size_t size)
{
    inputs->places[inputs->count] = place_here(inputs);
    inputs->seconds[inputs->count] = (clf_text){NULL, 0};
    inputs->texts[inputs->count++] = (clf_text){(const char *)(uintptr_t)inputs->bytes.length, size};
    return clfi_str_append(&inputs->bytes, data, size);
}

static bool is_blank(const char *data, size_t size)
{
    uint32_t code;
    for (size_t i = 0; i < size;) {
        i += clfi_utf8_decode((const unsigned char *)data + i, size - i, &code);
        const bool is_space = code <= ' ' || code == 0x85 || code == 0xa0 || code == 0x3000 || code == 0xfeff;
        if (!is_space && !(code >= 0x2000 && code <= 0x200b))
            return false;
    }
    return true;
}

/* Adds the text, unless blank texts are skipped and it is blank, or the callback `meets` refuses it. */
static clf_status take_text(cli_inputs *inputs, const char *data, size_t size, clf_text object)
{
    bool is_taken = !inputs->skips_blank || !is_blank(data, size);
    if (is_taken && inputs->meets)
        CLF_TRY(
            inputs->meets(inputs->meets_user, &(cli_met_text){{data, size}, place_here(inputs), inputs->file_index, object}, &is_taken));
    return is_taken ? add_text(inputs, data, size) : CLF_OK;
}

static clf_status add_pair(cli_inputs *inputs, clf_text first, clf_text second)
{
    CLF_TRY(add_text(inputs, first.data, first.size));
    /* + 1, since NULL means no second text */
    inputs->seconds[inputs->count - 1] = (clf_text){(const char *)(uintptr_t)(inputs->bytes.length + 1), second.size};
    return clfi_str_append(&inputs->bytes, second.data, second.size);
}

/* Adds the next of the texts or pairs in memory. */
static clf_status add_given(cli_inputs *inputs)
{
    const clf_text_pair pair = *inputs->given++;
    inputs->given_count--;
    CLF_TRY(pair.second.data ? add_pair(inputs, pair.first, pair.second) : add_text(inputs, pair.first.data, pair.first.size));
    inputs->places[inputs->count - 1].line = inputs->given_numbers ? *inputs->given_numbers++ : 0;
    return CLF_OK;
}

/* Refuses a text in which the JSON reader has replaced half of a surrogate pair by U+FFFD. */
static clf_status check_whole(const cli_inputs *inputs, size_t length, const char *where, const json_t *text)
{
    static const char replaced[] = "\xef\xbf\xbd";
    if (memmem(json_string_value(text), json_string_length(text), replaced, strlen(replaced)) &&
        clfi_json_has_lone_surrogate(inputs->line.data, length))
        CLF_FAIL(CLF_FORMAT, "%s: half of a surrogate pair (\\ud800 to \\udfff): expected both halves", where);
    return CLF_OK;
}

/* Adds the pair that a line holds as an array of two strings. */
static clf_status add_json_pair(cli_inputs *inputs, const json_t *pair, size_t length, const char *where)
{
    const json_t *first = json_array_get(pair, 0), *second = json_array_get(pair, 1);
    if (json_array_size(pair) != 2 || !json_is_string(first) || !json_is_string(second))
        CLF_FAIL(CLF_FORMAT, "%s: expected an array of two strings", where);
    CLF_TRY(check_whole(inputs, length, where, first));
    CLF_TRY(check_whole(inputs, length, where, second));
    return add_pair(inputs, (clf_text){json_string_value(first), json_string_length(first)},
                    (clf_text){json_string_value(second), json_string_length(second)});
}

static clf_status take_member(cli_inputs *inputs, const json_t *json, const json_t *text, size_t length, const char *where)
{
    CLF_TRY(check_whole(inputs, length, where, text));
    return take_text(inputs, json_string_value(text), json_string_length(text),
                     json_is_object(json) ? (clf_text){inputs->line.data, length} : (clf_text){NULL, 0});
}

static clf_status add_json_line(cli_inputs *inputs, size_t length)
{
    char where[512];
    json_t *json;
    snprintf(where, sizeof where, "%s: line %zu", inputs->name, inputs->line_number);
    CLF_TRY(clfi_json_parse_line(inputs->line.data, length, where, &json));
    const json_t *text = json_is_object(json) ? json_object_get(json, "text") : json;
    const clf_status st = inputs->takes_pairs && json_is_array(json) ? add_json_pair(inputs, json, length, where)
                          : json_is_string(text)                     ? take_member(inputs, json, text, length, where)
                                                 : clfi_fail(CLF_FORMAT, "%s: expected a JSON string or an object with \"text\"%s", where,
                                                             inputs->takes_pairs ? ", or an array of two strings" : "");
    json_decref(json);
    return st;
}

static clf_status read_line(cli_inputs *inputs)
{
    bool any;
    clf_status st = clfi_line_read(inputs->stream, inputs->name, inputs->line_number + 1, LINE_BYTES, &inputs->line, &any);
    if (st == CLF_OK && !any)
        st = cli_inputs_check_stays(inputs);
    if (st != CLF_OK || !any) {
        close_stream(inputs);
        return st;
    }
    const char *line = clfi_str_text(&inputs->line);
    const size_t length = clfi_line_length(&inputs->line);
    inputs->bytes_read += inputs->line.length + 1;
    inputs->line_number++;
    if (!inputs->is_jsonl) {
        cli_ill_formed_meet(&inputs->ill_formed, line, length, inputs->line_number);
        return take_text(inputs, line, length, (clf_text){NULL, 0});
    }
    return strspn(line, " \t") == length ? CLF_OK : add_json_line(inputs, length); /* blank lines hold no text in .jsonl */
}

static clf_status fill_window(cli_inputs *inputs)
{
    const size_t most = inputs->window_texts ? inputs->window_texts : CLI_WINDOW;
    inputs->total += inputs->count;
    inputs->count = 0;
    clfi_str_clear(&inputs->bytes);
    while (inputs->count < most && inputs->bytes.length < WINDOW_BYTES) {
        if (inputs->given_count > 0) {
            CLF_TRY(add_given(inputs));
            continue;
        }
        if (inputs->argument_count > 0 && !(inputs->stream && inputs->owns_stream)) {
            const char *argument = *inputs->arguments;
            if (inputs->stream == NULL) {
                inputs->arguments++;
                inputs->argument_count--;
                CLF_TRY(strcmp(argument, "-") == 0 ? open_stream(inputs, "-")
                                                   : take_text(inputs, argument, strlen(argument), (clf_text){NULL, 0}));
                continue;
            }
        }
        if (!inputs->stream && inputs->more_count == 0)
            break;
        CLF_TRY(inputs->stream ? read_line(inputs) : open_next(inputs));
    }
    return CLF_OK;
}

/* Warns of a file without texts: it is not an error, but probably a mistake. Callers that set `meets` or `tells_nothing` report it
 * themselves. */
static void tell_emptiness(cli_inputs *inputs)
{
    if (inputs->windows > 0 || inputs->given_total > 0 || inputs->meets || inputs->tells_nothing || !inputs->name)
        return;
    cli_line_clear();
    fprintf(stderr, "clformer: %s is empty: expected one text per line\n", inputs->name);
    inputs->tells_nothing = true;
}

clf_status cli_inputs_next(cli_inputs *inputs)
{
    for (;;) {
        const uint64_t before = inputs->bytes_read;
        CLF_TRY(fill_window(inputs));
        if (inputs->count == 0) {
            tell_emptiness(inputs);
            break;
        }
        inputs->window = inputs->windows++;
        if (!inputs->wants || inputs->wants(inputs->wants_user, inputs->window))
            break;
        inputs->passed_bytes += inputs->bytes_read - before;
    }
    for (size_t i = 0; i < inputs->count; i++) {
        inputs->texts[i].data = clfi_str_text(&inputs->bytes) + (uintptr_t)inputs->texts[i].data;
        if (inputs->seconds[i].data)
            inputs->seconds[i].data = clfi_str_text(&inputs->bytes) + (uintptr_t)inputs->seconds[i].data - 1;
    }
    return CLF_OK;
}

double cli_inputs_share(const cli_inputs *inputs)
{
    for (int i = 0; i < inputs->argument_count; i++)
        if (strcmp(inputs->arguments[i], "-") == 0)
            return NAN;
    if (inputs->stream && !inputs->file_bytes)
        return NAN;
    const double all = (double)inputs->file_bytes + inputs->argument_total + (double)inputs->given_total;
    const double read =
        (double)inputs->bytes_read + inputs->argument_total - inputs->argument_count + (double)(inputs->given_total - inputs->given_count);
    return all > 0 ? fmin(1, read / all) : NAN;
}

double cli_inputs_passed_share(const cli_inputs *inputs)
{
    return inputs->file_bytes ? (double)inputs->passed_bytes / ((double)inputs->file_bytes + inputs->argument_total) : 0;
}

/* Counts the lines of a regular file by reading it once more. SIZE_MAX: unknown. */
static size_t count_lines(const char *path)
{
    char bytes[1 << 16];
    size_t lines = 0, got;
    FILE *stream = fopen(path, "rbe");
    if (!stream)
        return SIZE_MAX;
    while ((got = fread(bytes, 1, sizeof bytes, stream)) > 0)
        for (const char *at = bytes; (at = memchr(at, '\n', (size_t)(bytes + got - at))); at++)
            lines++;
    const bool is_whole = !ferror(stream);
    fclose(stream);
    return is_whole ? lines + 1 : SIZE_MAX;
}

/* Counts the texts that are still to be read; a line of a file counts as one. SIZE_MAX: unknown, as for standard input. */
static size_t count_texts(const cli_inputs *inputs)
{
    for (int i = 0; i < inputs->argument_count; i++)
        if (strcmp(inputs->arguments[i], "-") == 0)
            return SIZE_MAX;
    const size_t arguments = (size_t)inputs->argument_count + inputs->given_count;
    if (!inputs->stream)
        return arguments;
    size_t lines = inputs->owns_stream && S_ISREG(inputs->opened.st_mode) ? count_lines(inputs->name) : SIZE_MAX;
    for (size_t i = 0; i < inputs->more_count && lines != SIZE_MAX; i++) {
        const size_t more = inputs->file_bytes ? count_lines(inputs->more_files[i]) : SIZE_MAX; /* 0: not all are regular files */
        lines = more == SIZE_MAX ? more : lines + more;
    }
    return lines == SIZE_MAX ? lines : lines + arguments;
}

size_t cli_inputs_window(const cli_inputs *inputs, size_t workers, size_t most)
{
    enum { PARTS = 8, LEAST_PART = 128 };
    if (workers < 2)
        return most;
    const size_t texts = count_texts(inputs), least = most / LEAST_PART;
    if (texts == SIZE_MAX)
        return most / PARTS;
    const size_t window = texts / (PARTS * workers);
    return window < least ? least : window < most ? window : most;
}

bool cli_inputs_are_read(const cli_inputs *inputs)
{
    return !inputs->stream && inputs->more_count == 0 && inputs->argument_count == 0 && inputs->given_count == 0;
}

clf_status cli_contents_blame(const char *name, clf_status st)
{
    return clfi_fail_prefix(st == CLF_INVALID_ARGUMENT ? CLF_FORMAT : st, "%s", name);
}

clf_status cli_text_blame(const cli_place *place, const char *unit, size_t number, clf_status st)
{
    char where[512];
    if (!place->line)
        return clfi_fail_prefix(st, "text %zu", number);
    snprintf(where, sizeof where, "%s: %s %zu", place->file, unit, place->line);
    return cli_contents_blame(where, st);
}

clf_status cli_inputs_blame(const cli_inputs *inputs, const size_t *failed, clf_status st)
{
    const size_t i = *failed;
    if (st == CLF_OK || i >= inputs->count)
        return st;
    return cli_text_blame(&inputs->places[i], inputs->unit, inputs->total + i + 1, st);
}
