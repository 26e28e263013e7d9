/* SPDX-License-Identifier: MIT */
/* Writes the lines of the log. */
#include "serve/log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "io/json.h"

enum { TIME_BYTES = 40 };

static void write_time(char text[TIME_BYTES])
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    const size_t length = strftime(text, TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + length, TIME_BYTES - length, ".%03ldZ", now.tv_nsec / 1000000);
}

/* Prints the object and releases it. */
static void print_json(json_t *line)
{
    clf_str text = CLF_STR_INIT;
    if (clfi_json_write(line, JSON_COMPACT | JSON_REAL_PRECISION(6), "log", &text) == CLF_OK)
        fprintf(stderr, "%s\n", clfi_str_text(&text));
    clfi_str_free(&text);
    json_decref(line);
}

void srv_log_event(void *log, const char *text)
{
    const srv_log *own = log;
    char now[TIME_BYTES];
    write_time(now);
    if (own->is_json)
        print_json(json_pack("{s:s, s:o}", "time", now, "event", clfi_json_text(text, strlen(text))));
    else
        fprintf(stderr, "%s %s\n", now, text);
}

void srv_log_access(void *log, const srv_access *access)
{
    const srv_log *own = log;
    char now[TIME_BYTES];
    write_time(now);
    if (own->is_json)
        print_json(json_pack("{s:s, s:s, s:i, s:f, s:s?, s:I}", "time", now, "route", access->route, "status", access->status, "seconds",
                             access->seconds, "model", access->model, "tokens", (json_int_t)access->tokens));
    else
        fprintf(stderr, "%s %s %d %.1f ms%s%s\n", now, access->route, access->status, access->seconds * 1e3, access->model ? " " : "",
                access->model ? access->model : "");
}
