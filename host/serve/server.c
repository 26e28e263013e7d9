/* SPDX-License-Identifier: MIT */
/* Starts, runs and ends the server. */
#include "serve/server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "jobs/model_notes.h"
#include "jobs/platform_guard.h"
#include "serve/http.h"
#include "serve/listen.h"
#include "serve/log.h"

enum { KEY_BYTES = 4096, TICK_MS = 20, MORE_SECONDS = 30 };

typedef struct running_server {
    srv_state state;
    srv_http *http;
    srv_log log;
    clf_str key, address;
    sigset_t signals;
} running_server;

/* ---- Options ---- */

/* Reads the key from the file, else from CLF_API_KEY, without its line end. It stays empty if neither is given. */
static clf_status read_key(const srv_options *options, clf_str *key)
{
    const char *variable = getenv("CLF_API_KEY");
    if (options->key_file)
        CLF_TRY(clfi_file_read(options->key_file, KEY_BYTES, key));
    else if (variable)
        CLF_TRY(clfi_str_append_text(key, variable));
    while (key->length > 0 && (key->data[key->length - 1] == '\n' || key->data[key->length - 1] == '\r'))
        key->data[--key->length] = '\0';
    const char *wrong = key->length == 0 && (options->key_file || variable) ? "an empty one"
                        : strlen(clfi_str_text(key)) != key->length         ? "a NUL byte"
                        : strpbrk(clfi_str_text(key), "\r\n")               ? "several lines"
                                                                            : NULL;
    if (wrong)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "serve: %s: expected a key of one line, found %s",
                 options->key_file ? options->key_file : "CLF_API_KEY", wrong);
    return CLF_OK;
}

static void allow_connections(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
        (void)!setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* ---- Signals ---- */

static void list_signals(sigset_t *out)
{
    sigemptyset(out);
    sigaddset(out, SIGTERM);
    sigaddset(out, SIGINT);
}

void srv_block_signals(void)
{
    sigset_t signals;
    list_signals(&signals);
    sigaddset(&signals, SIGHUP); /* blocked, not ignored: LLVM replaces SIG_IGN by a handler */
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

/* Waits for TICK_MS at most; returns whether a signal came. */
static bool signal_came(const running_server *s)
{
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    return sigtimedwait(&s->signals, NULL, &tick) > 0;
}

static _Noreturn void end_at_once(void)
{
    clfi_atomic_remove_named();
    cli_platforms_clean();
    _exit(128 + SIGTERM);
}

/* ---- Work ---- */

/* Waits until the workers are ready. *out_ended: a signal came before that. */
static clf_status wait_until_ready(running_server *s, bool *out_ended)
{
    clf_status st;
    const char *reason;
    *out_ended = false;
    for (;;) {
        switch (srv_workers_get_state(s->state.workers, &st, &reason)) {
        case SRV_WORKER_READY:
        case SRV_WORKER_LOST:
            return CLF_OK;
        case SRV_WORKER_FAILED:
            CLF_FAIL(st, "%s", reason);
        case SRV_WORKER_LOADS:
            break;
        }
        if (signal_came(s)) {
            *out_ended = true;
            return CLF_OK;
        }
    }
}

static void note_model(running_server *s, const srv_model *model)
{
    if (!model->model) /* its device was lost before it was loaded */
        return;
    cli_model_notes(model->model, model->path, srv_log_event, &s->log);
    if (model->tasks & SRV_TASK_COMPLETE)
        cli_sampling_note(model->path, srv_log_event, &s->log);
}

static clf_status tell_ready(running_server *s)
{
    printf("clformer serve: listening on %s\n", clfi_str_text(&s->address));
    if (fflush(stdout) != 0)
        CLF_FAIL(CLF_IO, "serve: standard output cannot be written");
    srv_notify("READY=1");
    srv_log_event(&s->log, "ready");
    return CLF_OK;
}

/* Stops accepting connections and waits until the running requests are answered, at most the time limit of a request and MORE_SECONDS. A
 * second signal ends the process at once. */
static void drain(running_server *s)
{
    const uint64_t most = (s->state.options->timeout + MORE_SECONDS) * UINT64_C(1000000000), start = clfi_now_ns();
    atomic_store(&s->state.is_draining, true);
    srv_notify("STOPPING=1");
    srv_log_event(&s->log, "shutting down: running requests are finished first");
    srv_http_quiesce(s->http);
    while (atomic_load(&s->state.in_flight) > 0 && clfi_now_ns() - start < most)
        if (signal_came(s))
            end_at_once();
}

static clf_status serve(running_server *s)
{
    bool ended;
    CLF_TRY(wait_until_ready(s, &ended));
    if (ended) {
        clfi_atomic_remove_named();
        cli_platforms_clean();
        _exit(EXIT_SUCCESS); /* a worker may compile kernels for minutes, which a join would wait for */
    }
    for (size_t i = 0; i < s->state.models.count; i++)
        note_model(s, &s->state.models.items[i]);
    atomic_store(&s->state.is_ready, true);
    CLF_TRY(tell_ready(s));
    while (!signal_came(s)) {
    }
    drain(s);
    return CLF_OK;
}

static clf_status start(running_server *s, const srv_device *devices, size_t device_count, const clf_model_params *params,
                        const srv_options *options)
{
    int socket;
    CLF_TRY(read_key(options, &s->key));
    CLF_TRY(srv_listen(options->host, options->port, &socket, &s->address));
    const srv_worker_params worker = {.models = &s->state.models,
                                      .model_params = *params,
                                      .queue = &s->state.queue,
                                      .metrics = &s->state.metrics,
                                      .limits = options->texts,
                                      .log = srv_log_event,
                                      .log_user = &s->log};
    const srv_http_params http = {.state = &s->state,
                                  .socket = socket,
                                  .key = s->key.length ? clfi_str_text(&s->key) : NULL,
                                  .is_local = s->key.length == 0 && srv_is_loopback(socket),
                                  .log = srv_log_access,
                                  .log_user = &s->log};
    clf_status st = srv_workers_start(&worker, devices, device_count, &s->state.workers);
    if (st == CLF_OK)
        st = srv_http_start(&http, &s->http);
    if (st != CLF_OK)
        close(socket);
    return st;
}

clf_status srv_run(const srv_device *devices, size_t device_count, const clf_model_params *params, const srv_options *options,
                   char *const *words, size_t count)
{
    running_server s = {.state = {.options = options}, .log = {options->log_json != 0}, .key = CLF_STR_INIT, .address = CLF_STR_INIT};
    char reason[CLFI_REASON_BYTES];
    allow_connections();
    list_signals(&s.signals);
    srv_queue_init(&s.state.queue, options->max_queue);
    srv_metrics_init(&s.state.metrics);
    clf_status st = srv_models_name(words, count, &s.state.models);
    if (st == CLF_OK)
        st = start(&s, devices, device_count, params, options);
    if (st == CLF_OK)
        st = serve(&s);
    clfi_reason_keep(reason);
    srv_http_stop(s.http);
    srv_queue_close(&s.state.queue);
    srv_workers_join(s.state.workers);
    srv_models_free(&s.state.models);
    srv_queue_destroy(&s.state.queue);
    srv_metrics_destroy(&s.state.metrics);
    clfi_str_free(&s.key);
    clfi_str_free(&s.address);
    clfi_reason_restore(reason);
    return st;
}
