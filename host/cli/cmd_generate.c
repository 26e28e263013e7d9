/* SPDX-License-Identifier: MIT */
/* clformer generate: continues prompts with a language model. */
#include "base/str.h"
#include "cli/commands.h"
#include "cli/generated_texts.h"

int cmd_generate(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    cli_generating what = CLI_GENERATING_INIT;
    int positional;
    const cli_option table[] = {
        {"prompt-file", 'f', "F", "one prompt per line; in a .jsonl file a JSON string or an object with \"text\"; - is standard input",
         CLI_TEXTS, &what.file},
        CLI_GENERATION_OPTIONS(what.options),
        CLI_SAMPLING_OPTIONS(what.options, "128"),
        {"batch", 0, "N", "prompts per batch (default: 16)", CLI_SIZE, &what.options.batch},
        {"json", 0, NULL, "print one object per prompt: {\"tokens\":[...],\"text\":\"...\",\"finish\":\"stop|length|refused|interrupted\"}",
         CLI_FLAG, &what.as_json},
        CLI_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
        CLI_CACHE_OPTIONS(session),
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && (positional < 1 || positional > 2 || (positional == 2) == (what.file != NULL)))
        st = cli_refuse(self, "expected a model and one prompt (in quotation marks) or --prompt-file F, found %d argument%s%s", positional,
                        clfi_plural((uint64_t)positional, "", "s"), what.file ? " and --prompt-file" : "");
    return cli_generated_texts(&session, &what, cli_session_open_model, positional, argv, st);
}
