/* SPDX-License-Identifier: MIT */
/* Functions that read the sections of a result file, and their helpers. All of them fail as clfi_result_read does (result.h). */
#ifndef CLFI_REPORT_RESULT_PARTS_H
#define CLFI_REPORT_RESULT_PARTS_H

#include "report/result.h"

enum { CLFI_RESULT_WHERE_BYTES = 320 };

/* Writes "<path>: <array>[<index>]", for messages; returns `text`. */
const char *clfi_result_where(const clfi_result *result, const char *array, size_t index, char text[CLFI_RESULT_WHERE_BYTES]);

/* FORMAT "<where>: <key>: expected ..., found ..." for a value that has the right type and the wrong content. */
clf_status clfi_result_wrong(const char *where, const char *key, const char *expected, const json_t *found);

/* Reads a string, which must not be empty. */
clf_status clfi_result_text(const json_t *object, const char *where, const char *key, const char **out);

/* Finds the document's array `key` and allocates as many zeroed elements of `size` bytes. table: address of the pointer to them, a member
 * of `result`, so that clfi_result_free frees them. FORMAT also: the array is too long. */
clf_status clfi_result_table(const clfi_result *result, const char *key, size_t size, const json_t **array, void *table, size_t *count);

/* Indices by name. clfi_result_find_place returns `none` for a name that was not added; places may be NULL. clfi_result_add_place makes
 * *places if it is NULL. */
size_t clfi_result_find_place(const json_t *places, const char *name, size_t none);
clf_status clfi_result_add_place(const clfi_result *result, json_t **places, const char *name, size_t place);

clf_status clfi_result_read_devices(clfi_result *result);
clf_status clfi_result_read_workloads(clfi_result *result);
clf_status clfi_result_read_rows(clfi_result *result); /* needs the devices and workloads */

#endif
