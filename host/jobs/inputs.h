/* SPDX-License-Identifier: MIT */
/* Texts of a command, from arguments, a file, standard input or memory, read in windows so that memory does not grow with the file. */
#ifndef CLFI_JOBS_INPUTS_H
#define CLFI_JOBS_INPUTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/str.h"
#include "console/ill_formed.h"
#include "console/options.h"
#include "clformer/classify.h"

enum { CLI_WINDOW = 4096 };

/* Origin of a text: line `line` of `file` in units of the inputs; line 0: it is an argument. */
typedef struct cli_place {
    const char *file;
    size_t line;
} cli_place;

/* A text as it is read, before it goes into a window. */
typedef struct cli_met_text {
    clf_text text;
    cli_place place;
    size_t file;     /* index of its file among those of cli_inputs_open_files */
    clf_text object; /* of a .jsonl file: the object whose member the text is, as it is written; data NULL: the line is a string alone */
} cli_met_text;

typedef struct cli_inputs {
    char **arguments; /* after the file; "-" stands for the lines of standard input */
    int argument_count;
    const clf_text_pair *given; /* in memory: those that are left, */
    const size_t *given_numbers;
    size_t given_count, given_total; /* and how many there were at the start */
    FILE *stream;                    /* the file being read; NULL = none */
    const char *name;                /* its name for messages, */
    const char *unit;                /* and what places[] count in it: "line", or "text" of those in memory */
    const char *const *more_files;   /* to be read after it, borrowed */
    size_t more_count, file_index;
    bool is_jsonl, owns_stream;
    size_t line_number;
    int argument_total;              /* at the start */
    uint64_t file_bytes, bytes_read; /* of the file's whole size, 0 where nobody knows it: how far its reading is */
    bool stays;                      /* the caller sets it: IO where a regular file was changed or replaced before its end was read */
    struct stat opened;              /* such a file as it was at first */
    cli_ill_formed ill_formed;
    clf_str line;
    clf_str bytes; /* the window's texts, one after another */
    clf_text texts[CLI_WINDOW];
    bool takes_pairs;             /* a line of a .jsonl file may be an array of two texts; the caller sets it before the first window */
    clf_text seconds[CLI_WINDOW]; /* of pairs; data NULL: none */
    cli_place places[CLI_WINDOW]; /* of texts[i] */
    size_t count, total;          /* in the window; in all windows before it */
    size_t window;                /* its index */
    size_t windows;               /* begun so far */
    size_t window_texts;          /* the most in one; 0: CLI_WINDOW. The caller sets it, and what follows, before the first window */
    bool (*wants)(void *user, size_t window); /* NULL: all; the others' texts are read and passed over */
    void *wants_user;
    bool skips_blank; /* lines of nothing but white space are passed over; the caller sets it before the first window */
    clf_status (*meets)(void *user, const cli_met_text *met, bool *out_taken); /* NULL: all are taken; else it meets each as it is read */
    void *meets_user;
    uint64_t passed_bytes; /* of windows that were passed over */
    bool tells_nothing;    /* of inputs without a text, which else standard error tells once; the caller sets it */
} cli_inputs;

/* arguments: borrowed. file: one text per line (a last "\r" of a line is dropped). If its name ends in .jsonl, each line is a JSON string,
 * or an object with "text". "-" = standard input; NULL = none. A byte order mark at its start is left out. Lines that are not UTF-8 are
 * taken, and standard error says so at its end. INVALID_ARGUMENT: no text at all was asked for. */
clf_status cli_inputs_open(char **arguments, int argument_count, const char *file, cli_inputs **out);
void cli_inputs_close(cli_inputs *inputs);

/* The texts of several such files, count > 0, one file after another; borrowed. NOT_FOUND, IO: the first cannot be opened; the next windows
 * tell the same of the others. */
clf_status cli_inputs_open_files(const char *const *files, size_t count, cli_inputs **out);

/* Inputs of pairs, or of texts alone (second.data NULL), in memory; all is borrowed. numbers: the number of each in messages, from 1, in
 * `name`; both NULL: its position among these. */
clf_status cli_inputs_of_pairs(const clf_text_pair *pairs, const size_t *numbers, size_t count, const char *name, cli_inputs **out);

/* The row of --file for a command's option table. */
#define CLI_INPUTS_OPTION(file)                                                                                                         \
    {                                                                                                                                   \
        "file", 'f', "F", "one text per line; in a .jsonl file a JSON string or an object with \"text\" per line; - is standard input", \
            CLI_TEXTS, &(file)                                                                                                          \
    }

/* The texts of a command `MODEL_DIR [TEXT ...]` with that option. INVALID_ARGUMENT: no directory, or no text at all. */
clf_status cli_inputs_open_after_model(const cli_command *command, char **positional, int count, const char *file, cli_inputs **out);

/* How much of all inputs was read, 0 to 1; NaN where a stream may go on. passed: how much was passed over. */
double cli_inputs_share(const cli_inputs *inputs);
double cli_inputs_passed_share(const cli_inputs *inputs);

/* The texts of a window, before the first is read, so that `workers` that take windows from a queue all have several. A window is an eighth
 * of each one's share, at most `most` and at least a 128th of that. One of them alone: `most`. */
size_t cli_inputs_window(const cli_inputs *inputs, size_t workers, size_t most);

/* Checks that an input file did not change since it was opened, if the inputs promise it because others read the file to hash it. Callers
 * check before they keep the results of a window. IO: it was changed. */
clf_status cli_inputs_check_stays(const cli_inputs *inputs);

/* Whether all texts have been read: after the last window, and after the one before it only if that was full. */
bool cli_inputs_are_read(const cli_inputs *inputs);

/* A failure by what is read from `name`, which goes in front of the message: the command line is not to blame, and INVALID_ARGUMENT becomes
 * FORMAT. */
clf_status cli_contents_blame(const char *name, clf_status st);

/* A failure by a text, with where it stands: "F: line 7" in those units, as cli_contents_blame; or, where the line is 0, "text 3" by
 * `number`, from 1. */
clf_status cli_text_blame(const cli_place *place, const char *unit, size_t number, clf_status st);

/* The same where text *failed of the window is to blame (the library's failed_text; other values: none). */
clf_status cli_inputs_blame(const cli_inputs *inputs, const size_t *failed, clf_status st);

/* Fills texts[0..count) with the next window that is wanted; count 0 at the end. The texts live until the next call. */
clf_status cli_inputs_next(cli_inputs *inputs);

#endif
