/* SPDX-License-Identifier: MIT */
/* clformer serve: models over HTTP. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "jobs/session.h"
#include "serve/server.h"

int cmd_serve(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    srv_options options = {.host = "127.0.0.1", .max_queue = 512, .max_body = 8 << 20, .timeout = 600};
    int64_t port = 8080;
    int positional, log = 0;
    const cli_option table[] = {
        {"port", 'p', "N", "listen on this port (default: 8080; 0: a free one, which the first line tells)", CLI_INTEGER, &port},
        {"host", 0, "A", "listen on this address (default: 127.0.0.1, this machine alone; 0.0.0.0: all)", CLI_TEXT, &options.host},
        {"api-key-file", 0, "F", "requests need the key in this file, or in CLF_API_KEY: Authorization: Bearer KEY", CLI_INPUT,
         &options.key_file},
        {"cors", 0, "ORIGIN", "pages of this origin (https://example.org, or * for all) may use the server (default: none)", CLI_TEXT,
         &options.origin},
        {"max-queue", 0, "N", "requests that may wait; more get status 429 (default: 512)", CLI_SIZE, &options.max_queue},
        {"max-body", 0, "BYTES", "largest body of a request (default: 8388608)", CLI_SIZE, &options.max_body},
        {"timeout", 0, "SECONDS", "longest time of a request (default: 600)", CLI_SIZE, &options.timeout},
        {"parallel", 0, "N", "texts that a language model writes together (default: 16)", CLI_SIZE, &options.places},
        {"no-token-ids", 0, NULL, "refuse token ids in place of texts, which clients take from other tokenizers", CLI_FLAG,
         &options.refuses_ids},
        {"log", 0, "text|json", "form of the log on standard error", CLI_CHOICE, &log},
        CLI_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
        CLI_CACHE_OPTIONS(session),
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional == 0)
        st = cli_refuse(self, "no model");
    if (st == CLF_OK && (port < 0 || port > 65535))
        st = cli_refuse(self, "--port: expected a number from 0 to 65535, found %lld", (long long)port);
    options.port = (size_t)port;
    options.log_json = log;
    session.sequences = options.places;
    if (st == CLF_OK) {
        srv_block_signals();
        st = cli_session_open(&session);
    }
    if (st == CLF_OK) {
        const clf_model_params params = cli_session_model_params(&session);
        st = srv_run(session.context, &params, &options, argv, (size_t)positional);
    }
    const int status = st == CLF_OK ? 0 : cli_fail(st);
    st = cli_session_close(&session, NULL);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
