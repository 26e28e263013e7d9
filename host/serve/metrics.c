/* SPDX-License-Identifier: MIT */
/* Counts requests and times, and writes them in Prometheus' text format 0.0.4. */
#include "serve/metrics.h"

#include <string.h>

/* Upper bounds of the buckets of requests' durations, in seconds. */
static const double route_bounds[SRV_HISTOGRAM_BOUNDS + 1] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                              0.5,   1,      2.5,   5,    10,    30,   60,  300};

typedef struct histogram_text {
    const char *name, *help;
    double bounds[SRV_HISTOGRAM_BOUNDS + 1]; /* ends with 0 */
} histogram_text;

static const histogram_text histogram_texts[SRV_HISTOGRAM_COUNT] = {
#define SRV_ROW(id, name, help, ...) {name, help, {__VA_ARGS__}},
    SRV_HISTOGRAM_MAP(SRV_ROW)
#undef SRV_ROW
};

static const struct {
    const char *name, *help;
} counter_texts[SRV_COUNTER_COUNT] = {
#define SRV_ROW(id, name, help) {name, help},
    SRV_COUNTER_MAP(SRV_ROW)
#undef SRV_ROW
};

void srv_metrics_init(srv_metrics *metrics)
{
    memset(metrics, 0, sizeof *metrics);
    pthread_mutex_init(&metrics->lock, NULL);
}

void srv_metrics_destroy(srv_metrics *metrics)
{
    pthread_mutex_destroy(&metrics->lock);
}

static void observe(srv_histogram *histogram, const double *bounds, double value)
{
    size_t i = 0;
    while (i < SRV_HISTOGRAM_BOUNDS && bounds[i] > 0 && value > bounds[i])
        i++;
    histogram->buckets[i]++;
    histogram->count++;
    histogram->sum += value;
}

void srv_count(srv_metrics *metrics, srv_counter_id id, uint64_t amount)
{
    pthread_mutex_lock(&metrics->lock);
    metrics->counters[id] += amount;
    pthread_mutex_unlock(&metrics->lock);
}

void srv_observe(srv_metrics *metrics, srv_histogram_id id, double value)
{
    pthread_mutex_lock(&metrics->lock);
    observe(&metrics->histograms[id], histogram_texts[id].bounds, value);
    pthread_mutex_unlock(&metrics->lock);
}

void srv_count_request(srv_metrics *metrics, size_t route, int status, double seconds)
{
    const size_t at = status >= 100 && status < 100 + SRV_STATUSES ? (size_t)status - 100 : SRV_STATUSES - 1;
    pthread_mutex_lock(&metrics->lock);
    metrics->requests[route][at]++;
    observe(&metrics->routes[route], route_bounds, seconds);
    pthread_mutex_unlock(&metrics->lock);
}

void srv_count_connection(srv_metrics *metrics, int change)
{
    pthread_mutex_lock(&metrics->lock);
    metrics->connections += change;
    metrics->counters[SRV_COUNTER_CONNECTIONS] += change > 0;
    pthread_mutex_unlock(&metrics->lock);
}

void srv_count_pass(srv_metrics *metrics, double seconds, size_t texts, size_t tokens)
{
    pthread_mutex_lock(&metrics->lock);
    metrics->busy_seconds += seconds;
    observe(&metrics->histograms[SRV_HISTOGRAM_PASS_SECONDS], histogram_texts[SRV_HISTOGRAM_PASS_SECONDS].bounds, seconds);
    observe(&metrics->histograms[SRV_HISTOGRAM_PASS_TEXTS], histogram_texts[SRV_HISTOGRAM_PASS_TEXTS].bounds, (double)texts);
    if (tokens)
        observe(&metrics->histograms[SRV_HISTOGRAM_PASS_TOKENS], histogram_texts[SRV_HISTOGRAM_PASS_TOKENS].bounds, (double)tokens);
    pthread_mutex_unlock(&metrics->lock);
}

/* ---- Text ---- */

static clf_status write_head(clf_str *out, const char *name, const char *help, const char *type)
{
    return clfi_str_appendf(out, "# HELP clformer_%s %s\n# TYPE clformer_%s %s\n", name, help, name, type);
}

/* label: "" or `route="..."`. */
static clf_status write_histogram(clf_str *out, const char *name, const char *label, const double *bounds, const srv_histogram *histogram)
{
    const char *comma = label[0] ? "," : "", *open = label[0] ? "{" : "", *close = label[0] ? "}" : "";
    uint64_t sum = 0;
    for (size_t i = 0; i < SRV_HISTOGRAM_BOUNDS && bounds[i] > 0; i++) {
        sum += histogram->buckets[i];
        CLF_TRY(clfi_str_appendf(out, "clformer_%s_bucket{%s%sle=\"%g\"} %llu\n", name, label, comma, bounds[i], (unsigned long long)sum));
    }
    CLF_TRY(clfi_str_appendf(out, "clformer_%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, label, comma, (unsigned long long)histogram->count));
    CLF_TRY(clfi_str_appendf(out, "clformer_%s_sum%s%s%s %.9g\n", name, open, label, close, histogram->sum));
    return clfi_str_appendf(out, "clformer_%s_count%s%s%s %llu\n", name, open, label, close, (unsigned long long)histogram->count);
}

static clf_status write_requests(const srv_metrics *m, const char *(*route_name)(size_t index), size_t count, clf_str *out)
{
    CLF_TRY(write_head(out, "requests_total", "requests by route and HTTP status (499: the client left before the answer)", "counter"));
    for (size_t r = 0; r < count; r++)
        for (size_t s = 0; s < SRV_STATUSES; s++)
            if (m->requests[r][s])
                CLF_TRY(clfi_str_appendf(out, "clformer_requests_total{route=\"%s\",status=\"%zu\"} %llu\n", route_name(r), s + 100,
                                         (unsigned long long)m->requests[r][s]));
    CLF_TRY(write_head(out, "request_duration_seconds", "time from the start of a request to the end of its answer", "histogram"));
    for (size_t r = 0; r < count; r++) {
        char label[96] = "route=\"";
        strncat(label, route_name(r), sizeof label - strlen(label) - 2);
        strcat(label, "\"");
        if (m->routes[r].count)
            CLF_TRY(write_histogram(out, "request_duration_seconds", label, route_bounds, &m->routes[r]));
    }
    return CLF_OK;
}

static clf_status write_all(const srv_metrics *m, const char *(*route_name)(size_t index), size_t route_count, clf_str *out)
{
    CLF_TRY(write_requests(m, route_name, route_count, out));
    for (size_t i = 0; i < SRV_HISTOGRAM_COUNT; i++) {
        CLF_TRY(write_head(out, histogram_texts[i].name, histogram_texts[i].help, "histogram"));
        CLF_TRY(write_histogram(out, histogram_texts[i].name, "", histogram_texts[i].bounds, &m->histograms[i]));
    }
    for (size_t i = 0; i < SRV_COUNTER_COUNT; i++) {
        CLF_TRY(write_head(out, counter_texts[i].name, counter_texts[i].help, "counter"));
        CLF_TRY(clfi_str_appendf(out, "clformer_%s %llu\n", counter_texts[i].name, (unsigned long long)m->counters[i]));
    }
    CLF_TRY(write_head(out, "device_busy_seconds_total", "time that all devices spent in forward passes", "counter"));
    CLF_TRY(clfi_str_appendf(out, "clformer_device_busy_seconds_total %.9g\n", m->busy_seconds));
    CLF_TRY(write_head(out, "open_connections", "open connections", "gauge"));
    return clfi_str_appendf(out, "clformer_open_connections %lld\n", (long long)m->connections);
}

clf_status srv_metrics_write(srv_metrics *metrics, const char *(*route_name)(size_t index), size_t route_count, const srv_gauge *gauges,
                             size_t gauge_count, clf_str *out)
{
    pthread_mutex_lock(&metrics->lock);
    const clf_status st = write_all(metrics, route_name, route_count, out);
    pthread_mutex_unlock(&metrics->lock);
    CLF_TRY(st);
    for (size_t i = 0; i < gauge_count; i++) {
        CLF_TRY(write_head(out, gauges[i].name, gauges[i].help, "gauge"));
        CLF_TRY(clfi_str_appendf(out, "clformer_%s %.9g\n", gauges[i].name, gauges[i].value));
    }
    return CLF_OK;
}
