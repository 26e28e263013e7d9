/* SPDX-License-Identifier: MIT */
/* Reads result files of `clformer bench` for comparisons and reports. A file is untrusted input: the whole file is checked before anything
 * is computed from it.
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

/* The largest count, rate or limit, and the range of times in ms that a file may have: what is computed from them stays finite. */
#define CLFI_RESULT_MOST 1e24
#define CLFI_RESULT_TIME_MIN 1e-9
#define CLFI_RESULT_TIME_MAX 1e12

/* Strings and JSON values of these structures are borrowed from clfi_result.document. */
typedef struct clfi_result_settings {
    const json_t *suites; /* array of strings */
    bool quick;
    int64_t seed, min_samples, warm_up; /* warm_up: runs dropped at the start of each visit; -1: not recorded */
    double min_seconds;                 /* per row, over all rounds */
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
    const char *reason;   /* why the device was not measured; NULL: it was */
    const json_t *limits; /* name -> number in [1e-9, CLFI_RESULT_MOST], measured in the same run; NULL: the file has none */
} clfi_result_device;

typedef struct clfi_result_workload {
    /* item: unit of `items`, for example "token"; limit: key of the device's limit that the workload is compared with; NULL: none */
    const char *id, *suite, *op, *item, *limit;
    const json_t *work;         /* describes the work: the objects of two files are equal if the work is the same */
    double flops, bytes, items; /* of one run; 0: not counted */
} clfi_result_workload;

typedef enum clfi_result_status { CLFI_RESULT_OK, CLFI_RESULT_FAILED, CLFI_RESULT_UNSUPPORTED } clfi_result_status;

typedef struct clfi_result_row {
    size_t workload, device; /* indices in clfi_result.workloads and clfi_result.devices */
    const char *engine;      /* "": the workload has a single engine, or its engines could not be listed */
    clfi_result_status status;
    const char *reason;                  /* why the status is not OK; NULL if it is */
    clfi_row_facts facts;
    clfi_samples wall_ms, device_ms;     /* in the order they were taken; empty unless OK; device_ms also empty where not known */
    size_t *round_samples, round_count;  /* how many of wall_ms each round with samples took; round_count 0: not recorded */
    clfi_summary wall;                   /* of wall_ms; NaN without samples */
    double device_median_ms;             /* NaN: not known */
    bool noisy;                          /* clfi_summary_is_noisy(&wall) */
    const char *rate_unit;               /* "": no rate */
    const json_t *off_device;            /* array of strings: the parts of a run that the host does; NULL: not recorded */
    const char *energy_method;           /* "not measured" if the file has none */
} clfi_result_row;

typedef struct clfi_result_gap {
    const char *what, *why;
} clfi_result_gap;

typedef struct clfi_result {
    json_t *document; /* owns all strings but `path` */
    char *path;       /* for messages: unprintable characters are replaced */
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
    json_t *workload_places, *device_places; /* id -> index */
    json_t *row_places;                      /* "<workload> <device> <engine>" -> index of the row */
} clfi_result;

/* Reads and checks a file. FORMAT "<path>: <place>: <key>: expected ..., found ...": the file is not a valid result file, or too large;
 * UNSUPPORTED: another schema_version; NOT_FOUND and IO as clfi_file_read; OUT_OF_MEMORY. *out is empty on failure, else the caller frees
 * it with clfi_result_free. */
clf_status clfi_result_read(const char *path, clfi_result *out);

/* As clfi_result_read, for a document in memory. The function owns `document` from the call on, also on failure. `name` stands for the path
 * in messages. */
clf_status clfi_result_take(json_t *document, const char *name, clfi_result *out);

void clfi_result_free(clfi_result *result); /* leaves it empty */

/* A measured limit of a device, for example "fp32_gflops"; NaN where it was not measured. */
double clfi_result_limit(const clfi_result_device *device, const char *name);

/* Return the index of the workload or the device with this id, or result->workload_count or result->device_count if there is none. */
size_t clfi_result_find_workload(const clfi_result *result, const char *id);
size_t clfi_result_find_device(const clfi_result *result, int64_t id);

/* Returns the row with these indices of a workload and a device and with this engine, or NULL if there is none. */
const clfi_result_row *clfi_result_find_row(const clfi_result *result, size_t workload, size_t device, const char *engine);

#endif
