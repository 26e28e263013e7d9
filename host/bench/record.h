/* SPDX-License-Identifier: MIT */
/* Writes the result file of a run of clformer bench: JSON by result.schema.json, written completely or not at all. */
#ifndef CLFI_BENCH_RECORD_H
#define CLFI_BENCH_RECORD_H

#include "bench/run.h"

enum { CLFI_RECORD_VERSION = 1 };

/* The part of a record that is known before the first measurement. */
typedef struct clfi_record {
    json_t *head; /* created, settings, library, host, models */
} clfi_record;

/* Fills *out, which the caller frees. suites: names, ended by NULL. OUT_OF_MEMORY. */
clf_status clfi_record_start(const clfi_workload_list *workloads, const clfi_bench_params *params, const char *const *suites,
                             clfi_record *out);
void clfi_record_free(clfi_record *record);

/* The whole document; the caller releases *out. OUT_OF_MEMORY. */
clf_status clfi_record_json(const clfi_record *record, const clfi_bench *bench, json_t **out);

/* Writes the document to a file, a pipe, a device or "-" (standard output), with one line per device, workload and result.
 * OUT_OF_MEMORY, IO. */
clf_status clfi_record_write(const clfi_record *record, const clfi_bench *bench, const char *path);

/* The JSON Schema of result files, as text. */
extern const char clfi_result_schema[] __attribute__((visibility("hidden")));
extern const char clfi_result_schema_end[] __attribute__((visibility("hidden")));

#endif
