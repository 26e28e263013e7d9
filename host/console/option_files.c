/* SPDX-License-Identifier: MIT */
/* Checks the files that a command line names: no output may replace an input or another output. */
#include "console/option_files.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "console/model_files.h"

enum { NAME_BYTES = 64 };

static const char argument_name[] = "argument";

static const char *option_name(const cli_option *option, char text[NAME_BYTES])
{
    snprintf(text, NAME_BYTES, "--%s", option->name);
    return text;
}

/* The file that the option says will be written; NULL: none, or the option names no output. */
static const char *output_of(const cli_option *option)
{
    const bool is_output = option->kind == CLI_OUTPUT || option->kind == CLI_IN_PLACE || option->kind == CLI_FILE;
    return is_output ? *(const char **)option->target : NULL;
}

/* The file that the option says will be read; NULL: none, or the option names no input. */
static const char *input_of(const cli_option *option)
{
    return option->kind == CLI_INPUT || option->kind == CLI_TEXTS ? *(const char **)option->target : NULL;
}

/* place: of the positional argument, from 1. */
static bool is_file(const cli_line *line, int place)
{
    return place >= line->command->first_file && place <= line->command->last_file;
}

static bool is_text(const cli_line *line, int place)
{
    return line->command->first_text && place >= line->command->first_text;
}

static clf_status check_input(const cli_line *line, const char *name, const char *path, const char *input_name, const char *input)
{
    if (input && cli_is_read_from(strcmp(input, "-") == 0 ? "/dev/stdin" : input, path))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %s %s would replace a file that is read (%s %s): expected another name", line->command->name,
                 name, path, input_name, input);
    return CLF_OK;
}

clf_status cli_output_replaces_none(const cli_line *line, const char *name, const char *path)
{
    char other[NAME_BYTES];
    for (size_t i = 0; i < line->count; i++) {
        const cli_option *option = &line->options[i];
        const cli_list *list = option->kind == CLI_INPUTS || option->kind == CLI_CORPORA ? option->target : NULL;
        CLF_TRY(check_input(line, name, path, option_name(option, other), input_of(option)));
        for (size_t k = 0; list && k < list->count; k++)
            CLF_TRY(check_input(line, name, path, other, list->items[k]));
    }
    for (int i = 0; i < line->argument_count; i++)
        if (is_file(line, i + 1) || (is_text(line, i + 1) && strcmp(line->arguments[i], "-") == 0))
            CLF_TRY(check_input(line, name, path, argument_name, line->arguments[i]));
    return CLF_OK;
}

/* Checks an output against the files of the first `count` rows. */
static clf_status check_outputs(const cli_line *line, size_t count, const char *name, const char *path)
{
    char other_name[NAME_BYTES];
    for (size_t i = 0; i < count; i++) {
        const char *other = output_of(&line->options[i]);
        bool is_same = false;
        if (other)
            CLF_TRY(clfi_outputs_are_same(other, path, &is_same));
        if (is_same)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %s %s and %s %s are the same file: expected two files", line->command->name,
                     option_name(&line->options[i], other_name), other, name, path);
    }
    return CLF_OK;
}

clf_status cli_output_is_alone(const cli_line *line, const char *name, const char *path)
{
    return check_outputs(line, line->count, name, path);
}

/* Notes in `taken` that `name` reads standard input, and refuses a second reader. taken "": no reader yet. */
static clf_status take_standard_input(const cli_line *line, const char *name, char taken[NAME_BYTES])
{
    if (taken[0])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %s - and %s - would both read standard input: expected at most one of them",
                 line->command->name, taken, name);
    snprintf(taken, NAME_BYTES, "%s", name);
    return CLF_OK;
}

static clf_status check_standard_input(const cli_line *line)
{
    char taken[NAME_BYTES] = "", name[NAME_BYTES];
    for (size_t i = 0; i < line->count; i++) {
        const char *input = line->options[i].kind == CLI_TEXTS ? input_of(&line->options[i]) : NULL;
        const cli_list *list = line->options[i].kind == CLI_CORPORA ? line->options[i].target : NULL;
        if (input && strcmp(input, "-") == 0)
            CLF_TRY(take_standard_input(line, option_name(&line->options[i], name), taken));
        for (size_t k = 0; list && k < list->count; k++)
            if (strcmp(list->items[k], "-") == 0)
                CLF_TRY(take_standard_input(line, option_name(&line->options[i], name), taken));
    }
    for (int i = 0; i < line->argument_count; i++)
        if (is_text(line, i + 1) && strcmp(line->arguments[i], "-") == 0)
            CLF_TRY(take_standard_input(line, argument_name, taken));
    return CLF_OK;
}

clf_status cli_files_check(const cli_line *line)
{
    char name[NAME_BYTES];
    for (int i = 0; i < line->argument_count; i++)
        if (is_file(line, i + 1) && !line->arguments[i][0])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: argument %d: expected the name of a file or folder, found \"\"", line->command->name,
                     i + 1);
    CLF_TRY(check_standard_input(line));
    for (size_t i = 0; i < line->count; i++) {
        const cli_option *option = &line->options[i];
        const char *path = output_of(option);
        if (!path)
            continue;
        CLF_TRY(clfi_output_check(path, option->kind == CLI_FILE));
        CLF_TRY(check_outputs(line, i, option_name(option, name), path));
        if (option->kind != CLI_IN_PLACE)
            CLF_TRY(cli_output_replaces_none(line, name, path));
    }
    return CLF_OK;
}
