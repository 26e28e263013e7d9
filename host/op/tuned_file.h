/* SPDX-License-Identifier: MIT */
/* The file of measured choices: one entry per device and driver, as JSON. Which choices an entry holds is for tuned.h to read.
 *
 *     {"schema": "clformer-tuned", "schema_version": 1, "devices": [
 *       {"name": "...", "platform": "...", "driver": "...", "compute_units": 2, "gemm": [...], "clblast": {...}}]} */
#ifndef CLFI_OP_TUNED_FILE_H
#define CLFI_OP_TUNED_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "clformer/device.h"

/* The entry for this device with this driver and as many compute units. *out NULL: there is none, or no file; the caller releases it with
 * json_decref. *out_is_other (may be NULL): whether an entry of this device with another driver or number of units was passed over.
 * FORMAT: the file is broken, and why. IO: it cannot be read. */
clf_status clfi_tuned_file_find(const char *path, const clf_device_info *device, bool *out_is_other, json_t **out);

/* Locks the folder of the file against other processes, from reading an entry until the new one is stored. Creates the folder. Where it
 * cannot be locked, the lock does nothing. Release it with unlock. */
int clfi_tuned_file_lock(const char *path);
void clfi_tuned_file_unlock(int lock);

/* Writes the file anew with this entry in the place of the one that find would give, whose further members it keeps (the model that
 * clformer tune measured, a newer version's). Other devices' entries stay, and the newest three of this device with other drivers or
 * numbers of units: machines may share a home folder. The folder is created. The file is replaced as a whole or not at all. FORMAT: the
 * file that is there is broken: it is left alone. */
clf_status clfi_tuned_file_store(const char *path, const clf_device_info *device, const json_t *entry);

#endif
