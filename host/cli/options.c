/* SPDX-License-Identifier: MIT */
/* Command-line options on getopt_long. */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { MAX_OPTIONS = 48, FIRST_LONG = 256 };

void cli_print_options(const cli_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char left[80];
        const cli_option *o = &options[i];
        snprintf(left, sizeof left, "%s%c%s--%s%s%s", o->letter ? "-" : "", o->letter ? o->letter : ' ', o->letter ? ", " : "   ", o->name,
                 o->metavar ? " " : "", o->metavar ? o->metavar : "");
        printf("  %-30s %s\n", left, o->help);
    }
}

static void print_help(const cli_command *command, const cli_option *options, size_t count)
{
    printf("usage: clformer %s [OPTIONS] %s\n\n%s\n\noptions:\n", command->name, command->arguments, command->summary);
    cli_print_options(options, count);
    printf("      %-26s %s\n", "--help", "this text");
}

/* Index of `value` in "a|b|c", or -1. */
static int choice_index(const char *choices, const char *value)
{
    const size_t length = strlen(value);
    int index = 0;
    for (const char *at = choices;; index++) {
        const size_t size = strcspn(at, "|");
        if (size == length && memcmp(at, value, size) == 0)
            return index;
        if (!at[size])
            return -1;
        at += size + 1;
    }
}

static clf_status set_value(const cli_option *option, const char *value)
{
    char *end;
    errno = 0;
    switch (option->kind) {
    case CLI_FLAG:
        *(int *)option->target = 1;
        return CLF_OK;
    case CLI_TEXT:
        *(const char **)option->target = value;
        return CLF_OK;
    case CLI_LIST: {
        cli_list *list = option->target;
        if (list->count == CLI_LIST_MAX)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: given more than %d times", option->name, CLI_LIST_MAX);
        list->items[list->count++] = value;
        return CLF_OK;
    }
    case CLI_SIZE: {
        const unsigned long long number = strtoull(value, &end, 10);
        if (value[0] < '0' || value[0] > '9' || *end || errno || number == 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected a whole number from 1, found \"%s\"", option->name, value);
        *(size_t *)option->target = (size_t)number;
        return CLF_OK;
    }
    case CLI_INTEGER: {
        const long long number = strtoll(value, &end, 10);
        if (end == value || *end || errno)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected a whole number, found \"%s\"", option->name, value);
        *(int64_t *)option->target = number;
        return CLF_OK;
    }
    case CLI_NUMBER: {
        const double number = strtod(value, &end);
        if (end == value || *end || !isfinite(number))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected a number, found \"%s\"", option->name, value);
        *(double *)option->target = number;
        return CLF_OK;
    }
    case CLI_CHOICE: {
        const int index = choice_index(option->metavar, value);
        if (index < 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected %s, found \"%s\"", option->name, option->metavar, value);
        *(int *)option->target = index;
        return CLF_OK;
    }
    }
    CLF_FAIL(CLF_INTERNAL, "--%s: kind %d", option->name, (int)option->kind);
}

clf_status cli_parse(const cli_command *command, const cli_option *options, size_t count, int argc, char **argv, int *positional)
{
    struct option long_options[MAX_OPTIONS + 2] = {{0}};
    char letters[2 * MAX_OPTIONS + 2] = ":";
    if (count > MAX_OPTIONS)
        CLF_FAIL(CLF_INTERNAL, "%s: more than %d options", command->name, MAX_OPTIONS);
    for (size_t i = 0; i < count; i++) {
        const int takes_value = options[i].kind != CLI_FLAG;
        long_options[i] = (struct option){options[i].name, takes_value ? required_argument : no_argument, NULL, FIRST_LONG + (int)i};
        if (options[i].letter) {
            const char text[3] = {options[i].letter, takes_value ? ':' : '\0', '\0'};
            strcat(letters, text);
        }
    }
    long_options[count] = (struct option){"help", no_argument, NULL, FIRST_LONG + (int)count};
    optind = 1;
    opterr = 0;
    for (int code; (code = getopt_long(argc, argv, letters, long_options, NULL)) != -1;) {
        if (code == '?' || code == ':')
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: option \"%s\" is %s; see clformer %s --help", command->name, argv[optind - 1],
                     code == ':' ? "without its value" : "unknown or takes no value", command->name);
        if (code == FIRST_LONG + (int)count) {
            print_help(command, options, count);
            exit(0);
        }
        size_t index = (size_t)(code - FIRST_LONG);
        for (size_t i = 0; code < FIRST_LONG && i < count; i++)
            if (options[i].letter == code)
                index = i;
        CLF_TRY(set_value(&options[index], optarg));
    }
    *positional = argc - optind;
    memmove(argv, argv + optind, (size_t)*positional * sizeof *argv);
    return CLF_OK;
}

int cli_fail(clf_status st)
{
    fprintf(stderr, "clformer: %s\n", clf_last_error());
    return st == CLF_INVALID_ARGUMENT ? 2 : 1;
}
