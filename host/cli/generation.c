/* SPDX-License-Identifier: MIT */
/* Checks the options that commands with language models share, and turns them into parameters. */
#include "cli/generation.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

clf_status cli_generation_params(const cli_generation *options, clf_text stops[CLI_LIST_MAX], clf_generate_params *out)
{
    const struct {
        const char *name;
        double value, least, most;
    } ranges[] = {
        {"temperature", options->temperature, 0, 1e6},
        {"top-p", options->top_p, 0, 1},
        {"min-p", options->min_p, 0, 1},
        {"repeat-penalty", options->repeat_penalty, 0, 1e6},
    };
    for (size_t i = 0; i < COUNT(ranges); i++)
        if (!(ranges[i].value >= ranges[i].least && ranges[i].value <= ranges[i].most))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--%s: expected a number from %g to %g, found %g", ranges[i].name, ranges[i].least,
                     ranges[i].most, ranges[i].value);
    for (size_t i = 0; i < options->stops.count; i++) {
        stops[i] = (clf_text){options->stops.items[i], strlen(options->stops.items[i])};
        if (stops[i].size == 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--stop: expected a text, found \"\"");
    }
    if (options->beams > 1 && (options->top_k || options->top_p != 1 || options->min_p != 0 || options->seed != 0))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--beams %zu excludes --top-k, --top-p, --min-p and --seed, which sample at random", options->beams);
    CLF_TRY(clf_generate_params_default(out, sizeof *out));
    out->max_tokens = options->max_tokens;
    out->temperature = (float)options->temperature;
    out->top_k = options->top_k;
    out->top_p = (float)options->top_p;
    out->min_p = (float)options->min_p;
    out->repeat_penalty = (float)options->repeat_penalty;
    out->seed = (uint64_t)options->seed;
    out->stops = stops;
    out->stop_count = options->stops.count;
    out->no_special_tokens = options->no_special_tokens;
    out->ignore_special = options->no_special;
    out->batch = options->batch;
    out->beams = options->beams;
    return CLF_OK;
}

void cli_generation_tell_long(const clf_model *model, size_t count)
{
    const clf_model_info *info = clf_model_get_info(model);
    if (count && info->max_tokens < info->max_positions)
        fprintf(stderr, "clformer: %zu %s longer than %lld tokens, for which the model was trained (expect worse results)\n", count,
                clfi_plural(count, "text was", "texts were"), (long long)info->max_tokens);
}
