/* SPDX-License-Identifier: MIT */
/* The table of routes: finds the handler of a request. */
#include "serve/routes.h"

#include <stdio.h>
#include <string.h>

#include "process/resident.h"
#include "serve/cohere.h"
#include "serve/fields.h"
#include "serve/ollama.h"
#include "serve/openai.h"
#include "serve/openai_text.h"
#include "serve/page.h"
#include "serve/tei.h"
#include "serve/tei_tokens.h"

/* ---- Routes of the server itself ---- */

static bool health(srv_call *call)
{
    return srv_check_ready(call) && srv_reply_json(call, json_pack("{s:s}", "status", "ok"));
}

static bool page(srv_call *call)
{
    const clf_status st = clfi_str_append(&call->reply.body, clfi_serve_page, (size_t)(clfi_serve_page_end - clfi_serve_page));
    return srv_reply_body(call, st, "text/html; charset=utf-8");
}

/* Sum over all models, on one device. */
static double planned_bytes(const srv_models *models)
{
    double sum = 0;
    for (size_t i = 0; i < models->count; i++)
        sum += models->items[i].planned_bytes;
    return sum;
}

static bool metrics(srv_call *call)
{
    srv_state *state = call->state;
    const bool is_ready = atomic_load(&state->is_ready);
    pthread_mutex_lock(&state->queue.lock);
    const double waiting = (double)state->queue.waiting, running = (double)state->queue.running;
    pthread_mutex_unlock(&state->queue.lock);
    const double ready = (double)srv_workers_ready(state->workers);
    const srv_gauge gauges[] = {
        {"ready", "1 once all models are loaded", is_ready},
        {"queue_depth", "requests that wait in the queue", waiting},
        {"queue_limit", "requests that may wait for one model (--max-queue)", (double)state->options->max_queue},
        {"requests_running", "requests that devices are working on", running},
        {"requests_in_flight", "requests that have arrived and are not fully answered", (double)atomic_load(&state->in_flight)},
        {"resident_memory_bytes", "resident memory of the server's process", (double)clfi_resident_bytes()},
        {"device_memory_bytes", "memory allocated on devices, and host memory that they use in place",
         srv_workers_device_bytes(state->workers)},
        {"planned_memory_bytes", "device memory planned at loading for weights, forward passes, keys and values",
         is_ready ? planned_bytes(&state->models) * ready : 0},
        {"devices", "devices that are ready", ready},
        {"models", "served models", (double)state->models.count},
    };
    size_t count = 0;
    while (srv_routes_name(count))
        count++;
    const clf_status st = srv_metrics_write(&state->metrics, srv_routes_name, count, gauges, COUNT(gauges), &call->reply.body);
    return srv_reply_body(call, st, "text/plain; version=0.0.4; charset=utf-8");
}

/* /rerank: the body of TEI's clients has `texts`, that of Cohere's `documents`. */
static bool rerank(srv_call *call)
{
    if (!srv_field(call->body, "documents") || srv_field(call->body, "texts"))
        return srv_tei_rerank(call);
    call->dialect = SRV_COHERE;
    return srv_cohere_rerank(call);
}

static const srv_route routes[] = {
    {"GET", "/health", SRV_TEI, true, health},
    {"GET", "/ping", SRV_TEI, true, health},
    {"GET", "/metrics", SRV_OPENAI, true, metrics},
    {"GET", "/", SRV_OPENAI, false, page},
    {"POST", "/", SRV_TEI, false, srv_tei_root},
    {"GET", "/v1/models", SRV_OPENAI, false, srv_openai_models},
    {"GET", "/v1/models/*", SRV_OPENAI, false, srv_openai_model},
    {"POST", "/v1/embeddings", SRV_OPENAI, false, srv_openai_embeddings},
    {"POST", "/embeddings", SRV_OPENAI, false, srv_openai_embeddings},
    {"POST", "/v1/chat/completions", SRV_OPENAI, false, srv_openai_chat},
    {"POST", "/v1/completions", SRV_OPENAI, false, srv_openai_completions},
    {"POST", "/v1/rerank", SRV_COHERE, false, srv_cohere_rerank},
    {"POST", "/v2/rerank", SRV_COHERE, false, srv_cohere_rerank},
    {"POST", "/rerank", SRV_TEI, false, rerank},
    {"POST", "/embed", SRV_TEI, false, srv_tei_embed},
    {"POST", "/predict", SRV_TEI, false, srv_tei_predict},
    {"POST", "/similarity", SRV_TEI, false, srv_tei_similarity},
    {"POST", "/tokenize", SRV_TEI, false, srv_tei_tokenize},
    {"POST", "/decode", SRV_TEI, false, srv_tei_decode},
    {"GET", "/info", SRV_TEI, false, srv_tei_info},
    {"GET", "/api/tags", SRV_OLLAMA, false, srv_ollama_tags},
    {"GET", "/api/version", SRV_OLLAMA, false, srv_ollama_version},
    {"POST", "/api/show", SRV_OLLAMA, false, srv_ollama_show},
    {"POST", "/api/embed", SRV_OLLAMA, false, srv_ollama_embed},
    {"POST", "/api/chat", SRV_OLLAMA, false, srv_ollama_chat},
    {"POST", "/api/generate", SRV_OLLAMA, false, srv_ollama_generate},
};

_Static_assert(COUNT(routes) < SRV_MOST_ROUTES, "a place for unknown paths too");

static bool fits(const srv_route *route, const char *path, const char **out_rest)
{
    const size_t length = strlen(route->path);
    *out_rest = "";
    if (route->path[length - 1] != '*')
        return strcmp(route->path, path) == 0;
    *out_rest = path + length - 1;
    return strncmp(route->path, path, length - 1) == 0 && path[length - 1] != '\0';
}

const srv_route *srv_routes_find(const char *method, const char *path, const char **out_rest, char *out_allow, size_t allow_size)
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    const srv_route *found = NULL;
    size_t used = 0;
    out_allow[0] = '\0';
    for (size_t i = 0; i < COUNT(routes) && !found; i++) {
        if (!fits(&routes[i], path, out_rest))
            continue;
        if (strcmp(routes[i].method, wanted) == 0)
            found = &routes[i];
        else
            used += (size_t)snprintf(out_allow + used, allow_size - used, "%s%s, ", routes[i].method,
                                     strcmp(routes[i].method, "GET") == 0 ? ", HEAD" : "");
    }
    if (!found && used)
        snprintf(out_allow + used, allow_size - used, "OPTIONS");
    return found;
}

srv_dialect srv_routes_dialect(const char *path)
{
    if (strncmp(path, "/api/", 5) == 0)
        return SRV_OLLAMA;
    for (size_t i = 0; i < COUNT(routes); i++)
        if (strcmp(routes[i].path, path) == 0)
            return routes[i].dialect;
    return SRV_OPENAI;
}

size_t srv_routes_index(const srv_route *route)
{
    return route ? (size_t)(route - routes) : COUNT(routes);
}

const char *srv_routes_name(size_t index)
{
    static _Thread_local char name[64];
    if (index > COUNT(routes))
        return NULL;
    if (index == COUNT(routes))
        return "unknown";
    snprintf(name, sizeof name, "%s %s", routes[index].method, routes[index].path);
    return name;
}
