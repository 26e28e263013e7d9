/* SPDX-License-Identifier: MIT */
/* clformer translate: generates a text from each text with an encoder-decoder: translations, summaries, answers. */
#include "base/str.h"
#include "cli/commands.h"
#include "cli/generated_texts.h"
#include "model/model.h"

static clf_status open_translator(cli_session *session, const char *model)
{
    CLF_TRY(cli_session_open_model(session, model));
    if (!session->model->network->config.decoder.has_source)
        CLF_FAIL(CLF_UNSUPPORTED, "model_type \"%s\" has no encoder: expected an encoder-decoder, such as t5, bart or marian",
                 session->model->family->model_type);
    return CLF_OK;
}

int cmd_translate(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    cli_generating what = CLI_GENERATING_INIT;
    int positional;
    what.options.beams = 0;
    const cli_option table[] = {
        {"file", 'f', "F", "one text per line; in a .jsonl file a JSON string or an object with \"text\"; - is standard input", CLI_TEXTS,
         &what.file},
        CLI_GENERATION_OPTIONS(what.options),
        CLI_SAMPLING_OPTIONS(what.options, "128"),
        {"beams", 0, "N", "beams of the search, 1 to 64; 1: greedy (default: as the model's files say)", CLI_SIZE, &what.options.beams},
        {"batch", 0, "N", "texts per batch (default: 16)", CLI_SIZE, &what.options.batch},
        {"json", 0, NULL, "print one object per text: {\"tokens\":[...],\"text\":\"...\",\"finish\":\"stop|length|refused|interrupted\"}",
         CLI_FLAG, &what.as_json},
        CLI_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
        CLI_CACHE_OPTIONS(session),
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && (positional < 1 || positional > 2 || (positional == 2) == (what.file != NULL)))
        st = cli_refuse(self, "expected a model and one text (in quotation marks) or --file F, found %d argument%s%s", positional,
                        clfi_plural((uint64_t)positional, "", "s"), what.file ? " and --file" : "");
    return cli_generated_texts(&session, &what, open_translator, positional, argv, st);
}
