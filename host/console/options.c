/* SPDX-License-Identifier: MIT */
/* Parses command-line options by a table, with getopt_long. */
#include "console/options.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/mpirun.h"
#include "console/option_files.h"
#include "console/progress.h"
#include "console/terminal.h"

enum { POSITIONAL = 1, MAX_OPTIONS = 48, FIRST_LONG = 256, OPTION_COLUMNS = 30 };

void cli_print_options(const cli_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char left[80];
        const cli_option *o = &options[i];
        snprintf(left, sizeof left, "%s%c%s--%s%s%s", o->letter ? "-" : "", o->letter ? o->letter : ' ', o->letter ? ", " : "   ", o->name,
                 o->metavar ? " " : "", o->metavar ? o->metavar : "");
        cli_print_entry(stdout, left, OPTION_COLUMNS, o->help);
    }
}

static bool has_letter(const cli_option *options, size_t count, char letter)
{
    for (size_t i = 0; i < count; i++)
        if (options[i].letter == letter)
            return true;
    return false;
}

void cli_print_usage(const cli_command *command, const char *options)
{
    enum { INDENT = 4 };
    char usage[256];
    snprintf(usage, sizeof usage, "usage: clformer %s%s%s%s", command->name, options, command->arguments[0] ? " " : "", command->arguments);
    cli_print_text(stdout, 0, INDENT, usage);
    putchar('\n');
    cli_print_text(stdout, 0, 0, command->summary);
    putchar('\n');
}

void cli_print_examples(const cli_command *command)
{
    puts("\nexamples:");
    for (size_t i = 0; i < CLI_EXAMPLES; i++) {
        char line[256];
        snprintf(line, sizeof line, "clformer %s", command->examples[i]);
        cli_print_command(stdout, line);
    }
}

static void print_help(const cli_command *command, const cli_option *options, size_t count)
{
    cli_print_usage(command, " [OPTIONS]");
    puts("options:");
    cli_print_options(options, count);
    cli_print_options(&(cli_option){"help", has_letter(options, count, 'h') ? 0 : 'h', NULL, "this text", CLI_FLAG, NULL}, 1);
    cli_print_examples(command);
}

/* Prints a sentence for a manual page: capital letter, full stop. A line that begins with '.' or an apostrophe would be a roff request. */
static void print_roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (const char *at = text; *at; at++) {
        if (*at == '\\')
            fputs("\\e", stdout);
        else if (at == text)
            putchar(toupper((unsigned char)*at));
        else
            putchar(*at);
    }
    puts(*text && text[strlen(text) - 1] == '.' ? "" : ".");
}

/* The options as a section of the manual page (manual.cmake). */
static void print_manual(const cli_command *command, const cli_option *options, size_t count)
{
    printf(".SS %s\n", command->name);
    for (size_t i = 0; i < count; i++) {
        const cli_option *o = &options[i];
        printf(".TP\n%s \"", o->metavar ? ".BI" : ".B");
        if (o->letter)
            printf("\\-%c\\fR, \\fB", o->letter);
        fputs("\\-\\-", stdout);
        for (const char *at = o->name; *at; at++)
            printf(*at == '-' ? "\\-" : "%c", *at);
        putchar('"');
        if (o->metavar)
            printf(" \" %s\"", o->metavar);
        putchar('\n');
        print_roff(o->help);
    }
    puts(".PP\nExamples:\n.PP\n.nf");
    for (size_t i = 0; i < CLI_EXAMPLES; i++) {
        fputs("clformer ", stdout);
        for (const char *at = command->examples[i]; *at; at++)
            printf(*at == '-' ? "\\-" : "%c", *at);
        putchar('\n');
    }
    puts(".fi");
}

int cli_choice_index(const char *choices, const char *value)
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

/* A file that is read or written, of which an option names one. */
static bool is_one_file(const cli_option *option)
{
    return option->kind == CLI_INPUT || option->kind == CLI_TEXTS || option->kind == CLI_OUTPUT || option->kind == CLI_IN_PLACE ||
           option->kind == CLI_FILE;
}

static clf_status set_value(const cli_option *option, const char *value, bool is_repeated)
{
    char *end;
    errno = 0;
    if (is_repeated && is_one_file(option))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected one file, found \"%s\" and \"%s\"", option->name, *(const char **)option->target,
                 value);
    switch (option->kind) {
    case CLI_FLAG:
        *(int *)option->target = 1;
        return CLF_OK;
    case CLI_TEXT:
        *(const char **)option->target = value;
        return CLF_OK;
    case CLI_INPUT:
    case CLI_TEXTS:
        if (!value[0])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected the name of a file to read, found \"\"", option->name);
        *(const char **)option->target = value;
        return CLF_OK;
    case CLI_OUTPUT:
    case CLI_IN_PLACE:
    case CLI_FILE:
        if (!value[0] || (option->kind == CLI_FILE && strcmp(value, "-") == 0))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected the name of a file to write, found \"%s\"", option->name, value);
        *(const char **)option->target = value;
        return CLF_OK;
    case CLI_LIST:
    case CLI_INPUTS:
    case CLI_CORPORA: {
        cli_list *list = option->target;
        if (list->count == CLI_LIST_MAX)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected at most %d of this option, found more", option->name, CLI_LIST_MAX);
        list->items[list->count++] = value;
        return CLF_OK;
    }
    case CLI_SIZE: {
        const unsigned long long number = strtoull(value, &end, 10);
        if (value[0] < '0' || value[0] > '9' || *end || errno || number == 0 || number > INT64_MAX)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected a whole number of at least 1%s, found \"%s\"", option->name,
                     number > INT64_MAX ? " and at most 2^63 - 1" : "", value);
        *(size_t *)option->target = (size_t)number;
        return CLF_OK;
    }
    case CLI_INTEGER: {
        const long long number = strtoll(value, &end, 10);
        if (end == value || *end || errno)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected a whole number%s, found \"%s\"", option->name,
                     errno == ERANGE ? " from -2^63 to 2^63 - 1" : "", value);
        *(int64_t *)option->target = number;
        return CLF_OK;
    }
    case CLI_NUMBER: {
        const double number = strtod(value, &end);
        if (end == value || *end || !(fabs(number) <= FLT_MAX))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected a number from -3.4e38 to 3.4e38, found \"%s\"", option->name, value);
        *(double *)option->target = number;
        return CLF_OK;
    }
    case CLI_CHOICE: {
        const int index = cli_choice_index(option->metavar, value);
        if (index < 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected %s, found \"%s\"", option->name, option->metavar, value);
        *(int *)option->target = index;
        return CLF_OK;
    }
    }
    CLF_FAIL(CLF_INTERNAL, "--%s: kind %d", option->name, (int)option->kind);
}

/* Levenshtein's distance of two names; `limit` + 1 if a name is longer than LONGEST. */
static size_t distance(const char *a, const char *b, size_t limit)
{
    enum { LONGEST = 63 };
    size_t row[LONGEST + 1];
    const size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return limit + 1;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t changed = diagonal + (a[i - 1] != b[j - 1]), shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = changed < shorter ? changed : shorter;
        }
    }
    return row[m];
}

const char *cli_nearest(const char *word, const char *const *names, size_t count)
{
    const size_t length = strlen(word), limit = length < 4 ? 1 : length < 9 ? 2 : 3;
    const char *nearest = NULL;
    size_t least = limit + 1;
    for (size_t i = 0; i < count; i++) {
        const size_t d = distance(word, names[i], limit);
        if (d < least) {
            least = d;
            nearest = names[i];
        }
    }
    for (size_t i = 0; !nearest && length >= 3 && i < count; i++) /* one is a part of the other: --tokens, --out-file */
        if (strstr(names[i], word) || (strlen(names[i]) >= 3 && strstr(word, names[i])))
            nearest = names[i];
    return nearest;
}

/* "--name" or "-x" of the command line, without its value. */
static void option_name(const char *argument, int letter, char *out, size_t size)
{
    if (letter > 0 && letter < FIRST_LONG && strncmp(argument, "--", 2) != 0)
        snprintf(out, size, "-%c", letter);
    else
        snprintf(out, size, "%.*s", (int)strcspn(argument, "="), argument);
}

static clf_status fail_unknown(const cli_command *command, const cli_option *options, size_t count, const char *name)
{
    const char *names[MAX_OPTIONS + 1];
    const char *word = name + strspn(name, "-");
    size_t matches = 0;
    for (size_t i = 0; i < count; i++) {
        names[i] = options[i].name;
        matches += strncmp(options[i].name, word, strlen(word)) == 0;
        if (strcmp(options[i].name, word) == 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: option \"%s\" takes no value", command->name, name);
    }
    names[count] = "help";
    const bool is_ambiguous = matches > 1 && strncmp(name, "--", 2) == 0;
    const char *nearest = cli_nearest(word, names, count + 1);
    if (nearest && !is_ambiguous)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: unknown option \"%s\"; did you mean --%s? See clformer %s --help", command->name, name, nearest,
                 command->name);
    CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: option \"%s\" is %s; see clformer %s --help", command->name, name,
             is_ambiguous ? "ambiguous" : "unknown", command->name);
}

clf_status cli_parse(const cli_command *command, const cli_option *options, size_t count, int argc, char **argv, int *positional)
{
    int unused;
    return cli_parse_parts(command, options, count, argc, argv, positional, &unused);
}

clf_status cli_parse_parts(const cli_command *command, const cli_option *options, size_t count, int argc, char **argv, int *positional,
                           int *before_dashes)
{
    struct option long_options[MAX_OPTIONS + 2] = {{0}};
    char letters[2 * MAX_OPTIONS + 4] = "-:", name[80]; /* -: getopt returns positional arguments in their order */
    int before = 0, seen = 1;                           /* seen: arguments that getopt has read */
    bool is_given[MAX_OPTIONS] = {false};
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
    if (!has_letter(options, count, 'h'))
        strcat(letters, "h");
    long_options[count] = (struct option){"help", optional_argument, NULL, FIRST_LONG + (int)count};
    optind = 1;
    opterr = 0;
    for (int code; (code = getopt_long(argc, argv, letters, long_options, NULL)) != -1; seen = optind) {
        if (code == POSITIONAL) {
            argv[before++] = optarg; /* overwrites arguments that getopt has read */
            continue;
        }
        if (code == '?' || code == ':') {
            option_name(argv[optind - 1], optopt, name, sizeof name);
            if (code == '?')
                return fail_unknown(command, options, count, name);
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: option \"%s\" needs a value; see clformer %s --help", command->name, name, command->name);
        }
        if (code == FIRST_LONG + (int)count || (code == 'h' && !has_letter(options, count, 'h'))) {
            if (!optarg)
                print_help(command, options, count);
            else if (strcmp(optarg, "manual") == 0)
                print_manual(command, options, count);
            else
                CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: option \"--help\" takes no value, found \"%s\"", command->name, optarg);
            exit(0);
        }
        size_t index = (size_t)(code - FIRST_LONG);
        for (size_t i = 0; code < FIRST_LONG && i < count; i++)
            if (options[i].letter == code)
                index = i;
        CLF_TRY(set_value(&options[index], optarg, is_given[index]));
        is_given[index] = true;
    }
    if (!command->shares_work && cli_mpirun_size() > 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT,
                 "%s: mpirun started %ld processes, and each would do the whole work (only embed and search share it)", command->name,
                 cli_mpirun_size());
    *before_dashes = optind > seen ? before : -1;
    *positional = before + argc - optind;
    memmove(argv + before, argv + optind, (size_t)(argc - optind) * sizeof *argv);
    return cli_files_check(&(cli_line){command, options, count, argv, *positional});
}

clf_status cli_refuse(const cli_command *command, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %s; usage: clformer %s %s", command->name, what, command->name, command->arguments);
}

int cli_exit_status(clf_status st)
{
    return st == CLF_OK ? 0 : st == CLF_INVALID_ARGUMENT ? 2 : 1;
}

static bool has_failed;

int cli_fail(clf_status st)
{
    has_failed = true;
    cli_line_end();
    if (st == CLF_INVALID_ARGUMENT)
        cli_mpirun_let_first_speak();
    fprintf(stderr, "clformer: %s\n", clf_last_error());
    return cli_exit_status(st);
}

bool cli_has_failed(void)
{
    return has_failed;
}

int cli_fail_coded(clf_status st)
{
    const char *reason = clf_last_error();
    has_failed = true;
    cli_line_end();
    if (st == CLF_INVALID_ARGUMENT)
        cli_mpirun_let_first_speak();
    if (strncmp(reason, "E_", 2) == 0)
        fprintf(stderr, "%s\n", reason);
    else /* too little memory counts as a limit */
        fprintf(stderr, "E_%s: %s\n", st == CLF_OUT_OF_MEMORY ? "LIMIT" : clf_status_id(st), reason);
    return cli_exit_status(st);
}
