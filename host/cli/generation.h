/* SPDX-License-Identifier: MIT */
/* Options that commands with language models share. */
#ifndef CLFI_CLI_GENERATION_H
#define CLFI_CLI_GENERATION_H

#include "console/options.h"
#include "clformer/generate.h"
#include "clformer/model.h"

/* Values of the options below, and of --batch and --beams, which commands have in their own tables. */
typedef struct cli_generation {
    size_t max_tokens, top_k, batch, beams;
    double temperature, top_p, min_p, repeat_penalty;
    int64_t seed;
    cli_list stops;
    int no_special_tokens, no_special;
} cli_generation;

#define CLI_GENERATION_INIT                       \
    {                                             \
        .max_tokens = 128, .top_p = 1, .beams = 1 \
    }

/* Options for turning a text into tokens. */
#define CLI_GENERATION_OPTIONS(g)                                                                                           \
    {"no-special", 0, NULL, "read control tokens written in a text as plain text", CLI_FLAG, &(g).no_special},              \
    {                                                                                                                       \
        "no-special-tokens", 0, NULL, "do not add the tokenizer's special tokens, such as the beginning of text", CLI_FLAG, \
            &(g).no_special_tokens                                                                                          \
    }

/* Options for choosing the next tokens and for the end of a text. most: the default of --max-tokens, a literal. */
#define CLI_SAMPLING_OPTIONS(g, most)                                                                                                \
    {"max-tokens", 'n', "N", "stop after N new tokens (default: " most ")", CLI_SIZE, &(g).max_tokens},                              \
        {"temperature", 't', "T", "0 (default): always the most probable token; higher: more random", CLI_NUMBER, &(g).temperature}, \
        {"top-k", 0, "K", "sample only from the K most probable tokens", CLI_SIZE, &(g).top_k},                                      \
        {"top-p",    0,                                                                                                              \
         "P",        "nucleus sampling: the fewest tokens whose probabilities reach P (default: 1, all; 0: the most probable one)",  \
         CLI_NUMBER, &(g).top_p},                                                                                                    \
        {"min-p", 0, "P", "sample only tokens at least P times as probable as the best", CLI_NUMBER, &(g).min_p},                    \
        {"repeat-penalty",                                                                                                           \
         0,                                                                                                                          \
         "R",                                                                                                                        \
         "above 1: make earlier tokens less probable (default, and 0: the model's repetition_penalty, or 1)",                        \
         CLI_NUMBER,                                                                                                                 \
         &(g).repeat_penalty},                                                                                                       \
        {"seed", 0, "S", "seed of the random numbers (default: 0)", CLI_INTEGER, &(g).seed},                                         \
    {                                                                                                                                \
        "stop", 0, "TEXT", "end before this text; may be repeated", CLI_LIST, &(g).stops                                             \
    }

/* Checks the options and turns them into parameters. *out borrows `stops`, which must live as long. INVALID_ARGUMENT names the option that
 * is out of range or excludes others. */
clf_status cli_generation_params(const cli_generation *options, clf_text stops[CLI_LIST_MAX], clf_generate_params *out);

/* Says on standard error that `count` texts were longer than the model was trained for. Says nothing if count is 0 or if the model refuses
 * such texts. */
void cli_generation_tell_long(const clf_model *model, size_t count);

#endif
