/* SPDX-License-Identifier: MIT */
/* Prints the text that a language model generates for each prompt, as it comes. For clformer generate and translate. */
#ifndef CLFI_CLI_GENERATED_TEXTS_H
#define CLFI_CLI_GENERATED_TEXTS_H

#include "cli/generation.h"
#include "jobs/session.h"

/* Options and prompts of a command. */
typedef struct cli_generating {
    cli_generation options;
    const char *file; /* file of prompts; NULL: the prompt is the argument after the model */
    int as_json;
} cli_generating;

#define CLI_GENERATING_INIT            \
    {                                  \
        .options = CLI_GENERATION_INIT \
    }

/* Runs such a command after its command line was parsed with the result st, whose failure is reported. argv: `count` positional arguments,
 * the model first. Opens the model by open_model, and prints a line for each prompt in their order: its text, or
 * {"tokens":[...],"text":"...","finish":"stop|length|refused|interrupted"}. A refused prompt of a file is reported on standard error and
 * has an empty text; the others go on, and the exit status is 1. Closes the session and returns the exit status. */
int cli_generated_texts(cli_session *session, const cli_generating *what, clf_status (*open_model)(cli_session *, const char *model),
                        int count, char **argv, clf_status st);

#endif
