/* SPDX-License-Identifier: MIT */
/* A result file of `clformer bench`, read back: untrusted input, checked whole before anything is computed from it.
 *
 * The format is host/bench/result.schema.json, schema_version 1. Beyond what a schema can say, every reference is resolved, every row's
 * summary is compared with its samples, and only verified rows may have samples. Unknown keys are ignored. */
#ifndef CLFI_REPORT_RESULT_H
#define CLFI_REPORT_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "bench/row_facts.h"
#include "bench/samples.h"

#define CLFI_RESULT_SCHEMA "clformer-bench"
enum { CLFI_RESULT_VERSION = 1 };

/* No count, rate or limit is larger, and no time in ms is outside these: what is computed from them stays finite. */
#define CLFI_RESULT_MOST 1e24
#define CLFI_RESULT_TIME_MIN 1e-9
#define CLFI_RESULT_TIME_MAX 1e12

/* All strings are borrowed from the file's own document. */
typedef struct clfi_result_settings {
    const json_t *suites;
    bool quick;
    int64_t seed, min_samples, warm_up; /* warm_up -1: not recorded */
    double min_seconds;
} clfi_result_settings;

typedef struct clfi_result_library {
    const char *version, *commit, *clblast;
} clfi_result_library;

typedef struct clfi_result_host {
    const char *cpu, *os, *kernel;
    int64_t logical_cores, memory_bytes;
} clfi_result_host;

typedef struct clfi_result_model {
    const char *name, *hash_kind, *hash; /* hash_kind: "sha256" or "xxh128"; hash NULL: not recorded */
    int64_t file_bytes;                  /* 0: not recorded */
} clfi_result_model;

typedef struct clfi_result_device {
    int64_t id;
    const char *name, *platform, *vendor, *driver, *opencl_c, *type;
    int64_t compute_units, memory_bytes;
    bool unified_memory, tuned;
    const char *reason;   /* why nothing was measured on it; NULL: it was */
    const json_t *limits; /* name -> number in [1e-9, CLFI_RESULT_MOST], measured in the same run */
} clfi_result_device;

typedef struct clfi_result_workload {
    const char *id, *suite, *op, *item, *limit; /* item, limit: NULL where there is none */
    const json_t *work;
    double flops, bytes, items;
} clfi_result_workload;

typedef enum clfi_result_status { CLFI_RESULT_OK, CLFI_RESULT_FAILED, CLFI_RESULT_UNSUPPORTED } clfi_result_status;

typedef struct clfi_result_row {
    size_t workload, device; /* places in the arrays below */
    const char *engine;      /* "": no choice */
    clfi_result_status status;
    const char *reason;                  /* of what is not OK; else NULL */
    clfi_row_facts facts;
    clfi_samples wall_ms, device_ms;     /* in the order they were taken; empty unless OK, device_ms also where not known */
    size_t *round_samples, round_count;  /* how many of wall_ms each round took; 0: not recorded */
    clfi_summary wall;                   /* of wall_ms; NaN without samples */
    double device_median_ms;             /* NaN: not known */
    bool noisy;                          /* as clfi_summary_is_noisy says of wall */
    const char *rate_unit;               /* "" with no rate */
    const json_t *off_device;            /* array of strings, or NULL */
    const char *energy_method;
} clfi_result_row;

typedef struct clfi_result_gap {
    const char *what, *why;
} clfi_result_gap;

typedef struct clfi_result {
    json_t *document; /* owns every string */
    char *path;
    const char *created;
    bool complete;
    clfi_result_settings settings;
    clfi_result_library library;
    clfi_result_host host;
    clfi_result_model *models;
    clfi_result_device *devices;
    clfi_result_workload *workloads;
    clfi_result_row *rows;
    clfi_result_gap *not_measured;
    size_t model_count, device_count, workload_count, row_count, not_measured_count;
    json_t *workload_places, *row_places; /* where each id, and each row's workload, device and engine, is found */
} clfi_result;

/* Reads and checks a file. FORMAT "<path>: <place>: <key>: expected ..., found ...": broken; UNSUPPORTED: another schema_version; NOT_FOUND
 * and IO as clfi_file_read. *out is empty on failure, else the caller frees it. */
clf_status clfi_result_read(const char *path, clfi_result *out);

/* The same for a document in memory, which is taken over in any case; `name` stands for the file in messages. */
clf_status clfi_result_take(json_t *document, const char *name, clfi_result *out);

void clfi_result_free(clfi_result *result); /* leaves it empty */

/* A measured limit of a device, for example "fp32_gflops"; NaN where it was not measured. */
double clfi_result_limit(const clfi_result_device *device, const char *name);

/* The place of a workload's id; workload_count: there is none. And the row of a workload, device and engine; NULL: there is none. */
size_t clfi_result_find_workload(const clfi_result *result, const char *id);
const clfi_result_row *clfi_result_find_row(const clfi_result *result, size_t workload, size_t device, const char *engine);

#endif
