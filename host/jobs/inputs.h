/* SPDX-License-Identifier: MIT */
/* Reads the texts of a command from arguments, files, standard input or memory, in windows, so that memory does not grow with the file. */
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

/* Origin of a text: number `line` in `file`, counted in `unit` of the inputs; line 0: an argument, or a text in memory without a number. */
typedef struct cli_place {
    const char *file;
    size_t line;
} cli_place;

/* A text as it is read, before it goes into a window. */
typedef struct cli_met_text {
    clf_text text;
    cli_place place;
    size_t file;     /* index of its file among those of cli_inputs_open_files */
    clf_text object; /* the JSON object, as written, whose member "text" this is; data NULL: the text is not a member of an object */
} cli_met_text;

typedef struct cli_inputs {
    char **arguments; /* read after the file; "-" stands for the lines of standard input */
    int argument_count;
    const clf_text_pair *given; /* texts in memory that were not read yet */
    const size_t *given_numbers;
    size_t given_count, given_total; /* number of them now, and at the start */
    FILE *stream;                    /* the file being read; NULL = none */
    const char *name;                /* the name of the file being read, for messages */
    const char *unit;                /* what `line` of places[] counts: "line" in files, "text" in memory */
    const char *const *more_files;   /* files to read after this one, borrowed */
    size_t more_count, file_index;
    bool is_jsonl, owns_stream;
    size_t line_number;
    int argument_total;              /* argument_count at the start */
    uint64_t file_bytes, bytes_read; /* size of all files (0: unknown), and how many bytes have been read */
    bool stays;                      /* set by the caller: a regular file that changes before its end is read is an error, IO */
    struct stat opened;              /* the file as it was when it was opened */
    cli_ill_formed ill_formed;
    clf_str line;
    clf_str bytes; /* the window's texts, one after another */
    clf_text texts[CLI_WINDOW];
    bool takes_pairs;             /* a line of a .jsonl file may be an array of two texts; the caller sets it before the first window */
    clf_text seconds[CLI_WINDOW]; /* second texts of pairs; data NULL: none */
    cli_place places[CLI_WINDOW]; /* of texts[i] */
    size_t count, total;          /* texts in the window, and in all windows before it */
    size_t window;                /* index of the window */
    size_t windows;               /* number of windows that were begun */
    size_t window_texts;          /* most texts in one; 0: CLI_WINDOW. The caller sets it, wants and meets before the first window */
    bool (*wants)(void *user, size_t window); /* NULL: all windows; the texts of unwanted ones are read and skipped */
    void *wants_user;
    bool skips_blank; /* texts of nothing but white space are skipped; the caller sets it before the first window */
    clf_status (*meets)(void *user, const cli_met_text *met, bool *out_taken); /* decides about each text as it is read; NULL: all taken */
    void *meets_user;
    uint64_t passed_bytes; /* size of the windows that were skipped */
    bool tells_nothing;    /* no warning on standard error about a file without texts; the caller sets it, and the first warning does */
} cli_inputs;

/* Opens the texts of a file, then of the arguments; both are borrowed. file: one text per line (a last "\r" of a line is dropped). If its
 * name ends in .jsonl, each line is a JSON string, or an object with "text". "-" = standard input; NULL = none. A byte order mark at its
 * start is left out. Lines that are not UTF-8 are taken, with a warning on standard error at the end of the file. INVALID_ARGUMENT: neither
 * file nor arguments. NOT_FOUND, IO: the file cannot be opened. */
clf_status cli_inputs_open(char **arguments, int argument_count, const char *file, cli_inputs **out);
void cli_inputs_close(cli_inputs *inputs);

/* Opens the texts of several such files, count > 0, one file after another; their names are borrowed. NOT_FOUND, IO: the first file cannot
 * be opened; for the others cli_inputs_next returns the same. */
clf_status cli_inputs_open_files(const char *const *files, size_t count, cli_inputs **out);

/* Takes pairs, or single texts (second.data NULL), from memory; all is borrowed. Messages call a text by its number (from 1) in the file
 * `name`: numbers[i]. Both NULL: messages give its position in `pairs`. */
clf_status cli_inputs_of_pairs(const clf_text_pair *pairs, const size_t *numbers, size_t count, const char *name, cli_inputs **out);

/* The row of --file for a command's option table. */
#define CLI_INPUTS_OPTION(file)                                                                                                         \
    {                                                                                                                                   \
        "file", 'f', "F", "one text per line; in a .jsonl file a JSON string or an object with \"text\" per line; - is standard input", \
            CLI_TEXTS, &(file)                                                                                                          \
    }

/* cli_inputs_open for a command `MODEL_DIR [TEXT ...]` with that option. INVALID_ARGUMENT: no directory, or neither file nor arguments. */
clf_status cli_inputs_open_after_model(const cli_command *command, char **positional, int count, const char *file, cli_inputs **out);

/* How much of all inputs has been read, 0 to 1; NaN if a stream of unknown length is among them. passed_share: how much was skipped. */
double cli_inputs_share(const cli_inputs *inputs);
double cli_inputs_passed_share(const cli_inputs *inputs);

/* Number of texts in a window for `workers` that take windows from a queue; call it before the first window is read. It is an eighth of a
 * worker's share, so that each worker gets several windows, but at least most / 128 and at most `most`. With one worker it is `most`, with
 * an unknown number of texts most / 8. */
size_t cli_inputs_window(const cli_inputs *inputs, size_t workers, size_t most);

/* With `stays` set, checks that the input file has not changed since it was opened: it is also read to hash it. Callers check before they
 * keep the results of a window. IO: it was changed; NOT_FOUND: it was removed. */
clf_status cli_inputs_check_stays(const cli_inputs *inputs);

/* Whether the end of all texts has been reached. If the last window is full, a file's end shows only when the next window is asked for. */
bool cli_inputs_are_read(const cli_inputs *inputs);

/* Puts `name`, whose contents caused the failure, in front of the message, and returns the status. INVALID_ARGUMENT becomes FORMAT, because
 * the command line is not to blame. */
clf_status cli_contents_blame(const char *name, clf_status st);

/* Puts the origin of the text that caused the failure in front of the message: "F: line 7" (`unit` is "line"), as cli_contents_blame. If
 * place->line is 0, it is "text 3" by `number`, from 1, and the status does not change. */
clf_status cli_text_blame(const cli_place *place, const char *unit, size_t number, clf_status st);

/* cli_text_blame for text *failed of the window (failed_text of the library's calls). CLF_OK, and a failure with an index outside the
 * window, is returned unchanged. */
clf_status cli_inputs_blame(const cli_inputs *inputs, const size_t *failed, clf_status st);

/* Fills texts[0..count) with the next window that is wanted; count 0 at the end. The texts live until the next call. NOT_FOUND, IO: a file
 * cannot be opened or read. FORMAT: a line is too long or is not what .jsonl expects. A failure of `meets`. OUT_OF_MEMORY. */
clf_status cli_inputs_next(cli_inputs *inputs);

#endif
