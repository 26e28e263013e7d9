/* SPDX-License-Identifier: MIT */
/* The file of measured choices: one entry per device and driver, as JSON. tuned.h reads the choices in an entry.
 *
 *     {"schema": "clformer-tuned", "schema_version": 1, "devices": [
 *       {"name": "...", "platform": "...", "driver": "...", "compute_units": 2, "gemm": [...], "clblast": {...}}]} */
#ifndef CLFI_OP_TUNED_FILE_H
#define CLFI_OP_TUNED_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "clformer/device.h"

/* *out: the entry for this device, driver and number of compute units, which the caller releases with json_decref; NULL: there is none, or
 * no file. *out_is_other (may be NULL): the file only has entries of this device with another driver or number of units. FORMAT: the file
 * is broken. IO: it cannot be read. OUT_OF_MEMORY. */
clf_status clfi_tuned_file_find(const char *path, const clf_device_info *device, bool *out_is_other, json_t **out);

/* Locks the folder of the file against other processes, from reading an entry until the new one is stored. Creates the folder. Where it
 * cannot be locked, the lock does nothing. Release it with unlock. */
int clfi_tuned_file_lock(const char *path);
void clfi_tuned_file_unlock(int lock);

/* Replaces the entry that clfi_tuned_file_find would return, or adds one. Members of the old entry that the new one lacks are kept (the
 * model that clformer tune measured, members of newer versions). Entries of other devices stay, and so do the newest three of this device
 * with other drivers or numbers of units, because machines may share a home folder. The folder is created. The file is replaced as a whole
 * or not at all. FORMAT: the existing file is broken and stays as it is. IO, OUT_OF_MEMORY. */
clf_status clfi_tuned_file_store(const char *path, const clf_device_info *device, const json_t *entry);

#endif
