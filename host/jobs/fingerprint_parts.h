/* SPDX-License-Identifier: MIT */
/* Shared by the files that implement fingerprints. */
#ifndef CLFI_JOBS_FINGERPRINT_PARTS_H
#define CLFI_JOBS_FINGERPRINT_PARTS_H

#include "jobs/fingerprint.h"

#define CLI_FINGERPRINT_SCHEMA "clformer-embeddings"

typedef struct cli_field_row {
    const char *name;
    bool is_number, binds, of_device;
} cli_field_row;

extern const cli_field_row cli_fields[CLI_FIELD_COUNT];

/* Values of fields that files of earlier versions lack; NULL: every version wrote the field. */
extern const char *const cli_fields_otherwise[CLI_FIELD_COUNT];

/* Sets a field and frees its old value. */
clf_status cli_fingerprint_set(cli_fingerprint *f, cli_field field, const char *text);
clf_status cli_fingerprint_set_number(cli_fingerprint *f, cli_field field, int64_t number);

/* Contents of a file: a fingerprint with rows, hash, ranges and texts. Parsing leaves out the ranges. The caller releases *out, also if
 * parsing fails. */
clf_status cli_fingerprint_file_json(const cli_fingerprint *f, json_t **out);
clf_status cli_fingerprint_file_parse(const json_t *root, const char *where, cli_fingerprint *out);

#endif
