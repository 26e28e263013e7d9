/* SPDX-License-Identifier: MIT */
/* Any bytes as a request to the server: [METHOD PATH] newline [Name: value newline ...] newline [body]. Its headers are checked, its route
 * begins a job on models without weights, and the answer is written from made-up results. Nothing that a client sends may count as the
 * server's fault, and each answer is what its type says. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/json.h"
#include "model/chat_prompt.h"
#include "model/model.h"
#include "serve/fields.h"
#include "serve/headers.h"
#include "serve/routes.h"
#include "serve/target.h"

enum { MODELS = 3, WIDTH = 5, POSITIONS = 64, VOCABULARY = 40, LINE_BYTES = 512, BODY_BYTES = 1 << 20 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SPECIAL(id, text)                                                                                                        \
    "{\"id\":" id ",\"content\":\"" text "\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false," \
    "\"special\":true}"

static const char tokenizer_json[] =
    "{\"added_tokens\":[" SPECIAL("1", "[CLS]") "," SPECIAL("2", "[SEP]") "],"
    "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",2],"
    "\"cls\":[\"[CLS]\",1]},\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
    "\"max_input_chars_per_word\":100,\"vocab\":{\"[UNK]\":0,\"[CLS]\":1,\"[SEP]\":2,\"a\":3,\"b\":4,\"##a\":5,\"##b\":6}}}";
static const char chat_template[] = "{% for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}a";

static clf_network networks[MODELS];
static clf_model models[MODELS];
static srv_model items[MODELS];
static const srv_options options = {.host = "127.0.0.1", .max_queue = 8, .max_body = 1 << 16, .timeout = 60};
static srv_state state = {.options = &options, .models = {items, MODELS}, .is_ready = true};

static void must(clf_status st)
{
    if (st == CLF_OK)
        return;
    fprintf(stderr, "%s\n", clf_last_error());
    abort();
}

static void open_chat(srv_model *model)
{
    char folder[] = "/tmp/clf-fuzz-serve.XXXXXX", path[64];
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof path, "%s/chat_template.jinja", folder);
    FILE *file = fopen(path, "w");
    if (!file || fputs(chat_template, file) == EOF || fclose(file) != 0)
        abort();
    must(clfi_chat_prompt_open(folder, model->model->tokenizer, "leave it out", &model->chat));
    unlink(path);
    rmdir(folder);
}

/* An embedder, a reranker and a language model. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const unsigned tasks[MODELS] = {SRV_TASK_EMBED, SRV_TASK_RERANK | SRV_TASK_PREDICT, SRV_TASK_COMPLETE | SRV_TASK_CHAT};
    static char *ids[MODELS] = {"embedder", "reranker", "writer"}, *labels[] = {"LABEL_0"};
    clf_tokenizer *tokenizer;
    (void)argc;
    (void)argv;
    must(clfi_tokenizer_from_json(tokenizer_json, sizeof tokenizer_json - 1, "tokenizer.json", &tokenizer));
    networks[1].config.classifier.labels = 1;
    for (size_t i = 0; i < MODELS; i++) {
        networks[i].config.target.vocabulary = VOCABULARY;
        networks[i].config.target.max_positions = networks[i].config.source.max_positions = POSITIONS;
        models[i] = (clf_model){.network = &networks[i], .tokenizer = tokenizer, .directory = ids[i]};
        models[i].info = (clf_model_info){.architecture = "bert", .max_tokens = POSITIONS, .max_positions = POSITIONS};
        items[i] = (srv_model){.id = ids[i], .path = "nowhere", .tasks = tasks[i], .model = &models[i]};
        items[i].max_tokens = POSITIONS;
        items[i].vocabulary = VOCABULARY;
        items[i].width = tasks[i] & SRV_TASK_EMBED ? WIDTH : 0;
        items[i].has_types = true;
        pthread_mutex_init(&items[i].chat_lock, NULL);
    }
    models[1].labels = (clf_labels){.name = labels, .count = 1, .problem = CLF_PROBLEM_MULTI_LABEL};
    open_chat(&items[2]);
    srv_queue_init(&state.queue, options.max_queue);
    srv_metrics_init(&state.metrics);
    return 0;
}

/* ---- The request ---- */

/* The next line, without its end, as a text of C; what does not fit is left out. */
static void take_line(const char **at, size_t *left, char out[LINE_BYTES])
{
    const char *end = memchr(*at, '\n', *left);
    const size_t length = end ? (size_t)(end - *at) : *left, kept = length < LINE_BYTES ? length : LINE_BYTES - 1;
    memcpy(out, *at, kept);
    out[kept] = '\0';
    *at += end ? length + 1 : length;
    *left -= end ? length + 1 : length;
}

/* A refusal of a client's mistake never blames the server, and always has a message. */
static void check_refusal(const srv_call *call)
{
    const srv_fault_words *words = srv_fault_row(call->error.fault);
    if (call->error.fault == SRV_FAULT_NONE || call->error.message[0] == '\0' ||
        (words->status >= 500 && call->error.fault != SRV_FAULT_NOT_BUILT) || words->status == 429)
        abort();
}

/* lines: of a stream, each an object, of Ollama's dialect or behind "data: ". */
static void check_json(const char *text, size_t size)
{
    json_t *value;
    if (clfi_json_parse_strict(text, size, "answer", &value) != CLF_OK) {
        fprintf(stderr, "%s: %.*s\n", clf_last_error(), (int)size, text);
        abort();
    }
    json_decref(value);
}

static void check_reply(srv_call *call, bool ok)
{
    if (!ok) {
        check_refusal(call);
        srv_reply_error(call);
    }
    if (call->reply.status == 0 || !call->reply.type)
        abort();
    if (strcmp(call->reply.type, SRV_JSON) == 0)
        check_json(clfi_str_text(&call->reply.body), call->reply.body.length);
}

static void check_headers(const char **at, size_t *left)
{
    srv_headers headers = {.bytes = 0};
    srv_error error = {.fault = SRV_FAULT_NONE};
    char lines[8][LINE_BYTES]; /* the headers' texts are borrowed */
    for (size_t i = 0; *left && i < 8; i++) {
        take_line(at, left, lines[i]);
        char *colon = strchr(lines[i], ':');
        if (!lines[i][0])
            break;
        if (colon)
            *colon = '\0';
        srv_headers_take(&headers, lines[i], colon ? colon + 1 + strspn(colon + 1, " ") : NULL);
    }
    if (srv_headers_check(&headers, true, &error) && headers.lengths && (headers.lengths > 1 || headers.codings || headers.is_bad_length))
        abort();
    (void)srv_headers_check_type(&headers, &error);
    (void)srv_headers_have_key(&headers, "sesame");
    (void)srv_headers_are_foreign(&headers, NULL, true);
}

/* ---- The answer ---- */

static void write_texts(srv_call *call)
{
    srv_job *job = call->job;
    clf_str out = CLF_STR_INIT;
    bool ended = false;
    for (size_t i = 0; i < job->texts.count; i++) {
        must(clfi_str_append_text(&job->texts.parts[i].text, "a\xc3\xa9"));
        job->texts.parts[i].tokens = 2;
        if (job->texts.parts[i].id_count == 0 || job->texts.params.max_tokens == 0)
            abort();
    }
    if (job->is_stream)
        must(call->stream(call, &out, &ended));
    for (size_t i = 0; i < job->texts.count; i++)
        job->texts.parts[i].finish = CLF_FINISH_STOP;
    job->state = SRV_JOB_DONE;
    while (job->is_stream && !ended)
        must(call->stream(call, &out, &ended));
    if (!job->is_stream)
        check_reply(call, call->answer(call));
    clfi_str_free(&out);
}

static void write_rows(srv_call *call)
{
    const srv_rows *rows = &call->job->rows;
    for (size_t i = 0; i < rows->count; i++) {
        const srv_item *item = &rows->items[i];
        if (item->count == 0 || item->count > POSITIONS)
            abort();
        for (size_t k = 0; k < item->count; k++)
            if (item->ids[k] < 0 || item->ids[k] >= VOCABULARY)
                abort();
        for (size_t k = 0; k < rows->width; k++)
            rows->rows[i * rows->width + k] = (float)(i + k) - 2;
    }
    check_reply(call, call->answer(call));
}

/* These ask a device for what they tell. */
static bool needs_device(const srv_route *route)
{
    return strcmp(route->path, "/metrics") == 0 || strcmp(route->path, "/info") == 0;
}

static void run(srv_call *call, const srv_route *route, const char *body, size_t size)
{
    size_t bytes;
    if (strcmp(route->method, "POST") == 0 && !srv_parse_body(body, size, BODY_BYTES, &call->body, &bytes, &call->error)) {
        check_reply(call, false);
        return;
    }
    snprintf(call->wire.id, sizeof call->wire.id, "clf-1");
    const bool ok = route->begin(call);
    if (!ok || !call->job)
        check_reply(call, ok);
    else if (srv_job_is_rows(call->job))
        write_rows(call);
    else
        write_texts(call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    char line[LINE_BYTES], allow[64], *target;
    take_line(&at, &size, line);
    char *path = strchr(line, ' ');
    if (!path)
        return 0;
    *path++ = '\0';
    check_headers(&at, &size);
    srv_call call = {.state = &state};
    must(srv_target_path(path, &target));
    const srv_route *route = srv_routes_find(line, target, &call.rest, allow, sizeof allow);
    call.dialect = route ? route->dialect : srv_routes_dialect(target);
    if (route && !needs_device(route))
        run(&call, route, at, size);
    srv_job_release(call.job);
    json_decref(call.body);
    clfi_str_free(&call.reply.body);
    free(target);
    return 0;
}
