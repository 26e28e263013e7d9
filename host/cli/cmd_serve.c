/* SPDX-License-Identifier: MIT */
/* clformer serve: serves models over HTTP. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "base/alloc.h"
#include "jobs/pool_members.h"
#include "jobs/session.h"
#include "serve/headers.h"
#include "serve/server.h"

/* A session for each device that --device names. They differ only in device and context. */
typedef struct device_sessions {
    cli_session *at; /* [count] */
    srv_device *devices;
    size_t count;
} device_sessions;

/* Opens a context on each device. A device that fails is reported and left out. If none is left, the last failure is returned instead.
 * is_listed: members name the devices; false: the session does. */
static clf_status open_each(const cli_session *session, cli_pool_members *members, bool is_listed, device_sessions *out)
{
    clf_status st = CLF_OK;
    for (size_t i = 0; i < members->count; i++) {
        cli_pool_member *member = &members->at[i];
        cli_session *own = &out->at[out->count];
        *own = *session;
        if (is_listed)
            own->device = member->device[0] ? member->device : NULL;
        st = cli_session_open(own);
        if (st == CLF_OK)
            out->devices[out->count++] = (srv_device){own->context, cli_member_name(member)};
        else if (i + 1 < members->count || out->count > 0)
            cli_member_say_lost(member, "it is left out");
    }
    return out->count > 0 ? CLF_OK : st;
}

/* Opens the devices of --device. If several are asked for, `members` gets their names, which *out borrows. */
static clf_status open_devices(const cli_session *session, cli_pool_members *members, device_sessions *out)
{
    const char *several;
    CLF_TRY(cli_devices_asked(session->device, &several));
    if (several && session->trace)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "serve: --trace needs a single device");
    if (several)
        CLF_TRY(cli_members_list(members, several));
    else
        members->count = 1;
    if (members->count == 0)
        CLF_FAIL(CLF_NOT_FOUND, "serve: --device %s: no usable device (see clformer devices)", several);
    CLF_TRY(clfi_alloc(members->count, sizeof *out->at, "devices", &out->at));
    CLF_TRY(clfi_alloc(members->count, sizeof *out->devices, "devices", &out->devices));
    return open_each(session, members, several != NULL, out);
}

static clf_status close_devices(device_sessions *sessions)
{
    clf_status first = CLF_OK;
    for (size_t i = 0; i < sessions->count; i++) {
        const clf_status st = cli_session_close(&sessions->at[i], NULL);
        first = first == CLF_OK ? st : first;
    }
    free(sessions->at);
    free(sessions->devices);
    return first;
}

int cmd_serve(const cli_command *self, int argc, char **argv)
{
    static cli_pool_members members; /* too large for the stack */
    device_sessions sessions = {.count = 0};
    cli_session session = CLI_SESSION_INIT;
    srv_options options = {.host = "127.0.0.1", .max_queue = 512, .max_body = 8 << 20, .timeout = 600};
    int64_t port = 8080, prefix_bytes = INT64_MIN;
    int positional, log = 0;
    const cli_option table[] = {
        {"port", 'p', "N", "listen on this port (default: 8080; 0: a free port, which the first line shows)", CLI_INTEGER, &port},
        {"host", 0, "A", "listen on this address (default: 127.0.0.1, this machine only; 0.0.0.0: all)", CLI_TEXT, &options.host},
        {"api-key-file", 0, "F", "file of the API key, which may also be in CLF_API_KEY; requests need Authorization: Bearer KEY",
         CLI_INPUT, &options.key_file},
        {"cors", 0, "ORIGIN", "allow web pages of this origin, as https://example.org, or * for all (default: none)", CLI_TEXT,
         &options.origin},
        {"max-queue", 0, "N", "requests that may wait for one model; further ones get status 429 (default: 512)", CLI_SIZE,
         &options.max_queue},
        {"max-body", 0, "BYTES", "largest request body in bytes (default: 8388608)", CLI_SIZE, &options.max_body},
        {"timeout", 0, "SECONDS", "time limit of a request (default: 600)", CLI_SIZE, &options.timeout},
        {"parallel", 0, "N", "texts that a language model generates at the same time (default: 16)", CLI_SIZE, &options.texts.places},
        {"context", 0, "N", "tokens of the key/value cache of a language model (default: its context, or 512 per parallel text)", CLI_SIZE,
         &options.texts.tokens},
        {"prefix-bytes", 0, "BYTES",
         "bytes of keys and values kept for prompts with a common beginning (default: half of the cache; 0: none)", CLI_INTEGER,
         &prefix_bytes},
        {"no-token-ids", 0, NULL, "refuse token ids in place of texts: clients may take them from another tokenizer", CLI_FLAG,
         &options.refuses_ids},
        {"log", 0, "text|json", "format of the log on standard error", CLI_CHOICE, &log},
        CLI_SESSION_OPTIONS_OF(session, "index, platform:device, part of a name, cpu or gpu (see clformer devices); several separated by "
                                        "commas, or all: each device loads the models and takes the requests that fit"),
        CLI_MODEL_OPTIONS(session),
        CLI_CACHE_OPTIONS(session),
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional == 0)
        st = cli_refuse(self, "expected a model");
    if (st == CLF_OK && (port < 0 || port > 65535))
        st = cli_refuse(self, "--port: expected a number from 0 to 65535, found %lld", (long long)port);
    if (st == CLF_OK && prefix_bytes < 0 && prefix_bytes != INT64_MIN)
        st = cli_refuse(self, "--prefix-bytes: expected 0 or more, found %lld", (long long)prefix_bytes);
    if (st == CLF_OK && options.origin && strcmp(options.origin, "*") != 0 && !srv_origin_is_valid(options.origin))
        st =
            cli_refuse(self, "--cors: expected * or an origin in small letters, as https://example.org (no slash at the end), found \"%s\"",
                       options.origin);
    options.texts.prefix_bytes = prefix_bytes < 0 ? SIZE_MAX : (size_t)prefix_bytes;
    options.port = (size_t)port;
    options.log_json = log;
    session.sequences = options.texts.places;
    if (st == CLF_OK) {
        srv_block_signals();
        st = open_devices(&session, &members, &sessions);
    }
    if (st == CLF_OK) {
        const clf_model_params params = cli_session_model_params(&session);
        st = srv_run(sessions.devices, sessions.count, &params, &options, argv, (size_t)positional);
    }
    const int status = st == CLF_OK ? 0 : cli_fail(st);
    st = close_devices(&sessions);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
