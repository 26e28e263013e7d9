/* SPDX-License-Identifier: MIT */
/* Counters of the server, and their text format for Prometheus. Labels come from lists of the program alone, never from requests. */
#ifndef CLFI_SERVE_METRICS_H
#define CLFI_SERVE_METRICS_H

#include <pthread.h>
#include <stdint.h>

#include "base/str.h"

/* Histograms; X(id, name, help, bounds...): upper bounds of the buckets, rising. The text format puts "clformer_" before each name. */
#define SRV_HISTOGRAM_MAP(X)                                                                                                              \
    X(WAIT, "queue_wait_seconds", "time that a request waited in the queue for a device", 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,   \
      0.25, 0.5, 1, 2.5, 5, 10, 30)                                                                                                       \
    X(FIRST_TOKEN, "first_token_seconds", "time from a request's arrival to its first generated token", 0.005, 0.01, 0.025, 0.05, 0.1,    \
      0.25, 0.5, 1, 2.5, 5, 10, 30, 60)                                                                                                   \
    X(PASS_SECONDS, "pass_seconds", "duration of a forward pass over a batch of texts, or of a step of generation", 0.001, 0.0025, 0.005, \
      0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)                                                                                       \
    X(PASS_TEXTS, "pass_texts", "texts in a forward pass, or texts that are generated together in a step", 1, 2, 4, 8, 16, 32, 64, 128,   \
      256, 512)                                                                                                                           \
    X(PASS_TOKENS, "pass_tokens", "tokens in a forward pass over a batch of texts", 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192,    \
      16384)

/* Counters; X(id, name, help). */
#define SRV_COUNTER_MAP(X)                                                                                                \
    X(INPUT_TOKENS, "input_tokens_total", "tokens of input texts and prompts")                                            \
    X(PREFIX_TOKENS, "prefix_tokens_total", "prompt tokens whose keys and values were still in the cache")                \
    X(OUTPUT_TOKENS, "generated_tokens_total", "tokens that language models generated")                                   \
    X(TEXTS, "texts_total", "texts and pairs that devices embedded, reranked or classified")                              \
    X(REFUSED, "queue_refused_total", "requests that got status 429 because the queue or the memory for bodies was full") \
    X(CANCELLED, "cancelled_total", "requests that ended early because the client left or the time limit passed")         \
    X(CONNECTIONS, "connections_total", "accepted connections")

typedef enum srv_histogram_id {
#define SRV_ENUM_ROW(id, name, help, ...) SRV_HISTOGRAM_##id,
    SRV_HISTOGRAM_MAP(SRV_ENUM_ROW)
#undef SRV_ENUM_ROW
        SRV_HISTOGRAM_COUNT
} srv_histogram_id;

typedef enum srv_counter_id {
#define SRV_ENUM_ROW(id, name, help) SRV_COUNTER_##id,
    SRV_COUNTER_MAP(SRV_ENUM_ROW)
#undef SRV_ENUM_ROW
        SRV_COUNTER_COUNT
} srv_counter_id;

enum { SRV_HISTOGRAM_BOUNDS = 16, SRV_MOST_ROUTES = 48, SRV_STATUSES = 500 };

typedef struct srv_histogram {
    uint64_t buckets[SRV_HISTOGRAM_BOUNDS + 1], count;
    double sum;
} srv_histogram;

typedef struct srv_metrics {
    pthread_mutex_t lock;
    uint64_t requests[SRV_MOST_ROUTES][SRV_STATUSES]; /* by route and HTTP status - 100 */
    srv_histogram routes[SRV_MOST_ROUTES];            /* seconds of whole requests */
    srv_histogram histograms[SRV_HISTOGRAM_COUNT];
    uint64_t counters[SRV_COUNTER_COUNT];
    double busy_seconds; /* sum of the durations of all passes */
    int64_t connections; /* open now */
} srv_metrics;

void srv_metrics_init(srv_metrics *metrics);
void srv_metrics_destroy(srv_metrics *metrics);

/* Any thread may call these. route: from srv_routes_index. change: 1 or -1. tokens 0: a step of generation. */
void srv_count(srv_metrics *metrics, srv_counter_id id, uint64_t amount);
void srv_observe(srv_metrics *metrics, srv_histogram_id id, double value);
void srv_count_request(srv_metrics *metrics, size_t route, int status, double seconds);
void srv_count_connection(srv_metrics *metrics, int change);
void srv_count_pass(srv_metrics *metrics, double seconds, size_t texts, size_t tokens);

/* A value of this moment that the caller knows. */
typedef struct srv_gauge {
    const char *name, *help;
    double value;
} srv_gauge;

/* Appends all metrics and the gauges. route_name(index): a label for each of the first `route_count` routes. OUT_OF_MEMORY. */
clf_status srv_metrics_write(srv_metrics *metrics, const char *(*route_name)(size_t index), size_t route_count, const srv_gauge *gauges,
                             size_t gauge_count, clf_str *out);

#endif
