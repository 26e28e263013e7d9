/* SPDX-License-Identifier: MIT */
/* Reads and replaces the file of measured choices. */
#include "op/tuned_file.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sidecar.h"
#include "io/json.h"

enum { LIMIT_BYTES = 4 << 20, SCHEMA_VERSION = 1, MOST_OF_DEVICE = 4 };
static const char schema[] = "clformer-tuned";

/* The parsed file and its list of devices, every entry of which names its device. *out NULL: no file. */
static clf_status read_file(const char *path, json_t **out, const json_t **out_devices)
{
    json_t *root = NULL;
    const json_t *entry;
    const char *text;
    int64_t version;
    size_t i;
    clf_status st;
    bool exists;
    *out = NULL;
    CLF_TRY(clfi_file_exists(path, &exists));
    if (!exists)
        return CLF_OK;
    CLF_TRY(clfi_json_read(path, LIMIT_BYTES, &root));
    CLF_GOTO(clfi_json_get_string(root, path, "schema", &text));
    if (strcmp(text, schema) != 0)
        CLF_GOTO(clfi_fail(CLF_FORMAT, "%s: schema \"%s\", expected \"%s\"", path, text, schema));
    CLF_GOTO(clfi_json_get_int(root, path, "schema_version", SCHEMA_VERSION, SCHEMA_VERSION, &version));
    CLF_GOTO(clfi_json_get_array(root, path, "devices", out_devices));
    json_array_foreach(*out_devices, i, entry)
    {
        CLF_GOTO(clfi_json_get_string(entry, path, "name", &text));
        CLF_GOTO(clfi_json_get_string(entry, path, "platform", &text));
        CLF_GOTO(clfi_json_get_string(entry, path, "driver", &text));
    }
    *out = root;
    return CLF_OK;
done:
    json_decref(root);
    return st;
}

static bool is_text(const json_t *entry, const char *key, const char *text)
{
    return strcmp(json_string_value(json_object_get(entry, key)), text) == 0;
}

/* Whether an entry is of this device, with any driver and number of units. */
static bool is_device(const json_t *entry, const clf_device_info *device)
{
    return is_text(entry, "name", device->name) && is_text(entry, "platform", device->platform_name);
}

/* Whether an entry has this number of units: an environment variable or a part of a GPU can change it. Older entries do not have it. */
static bool has_units(const json_t *entry, const clf_device_info *device)
{
    const json_t *units = json_object_get(entry, "compute_units");
    return !units || json_integer_value(units) == (json_int_t)device->compute_units;
}

static bool is_same(const json_t *entry, const clf_device_info *device)
{
    return is_device(entry, device) && is_text(entry, "driver", device->driver_version) && has_units(entry, device);
}

clf_status clfi_tuned_file_find(const char *path, const clf_device_info *device, bool *out_is_other, json_t **out)
{
    json_t *root, *found = NULL;
    const json_t *devices = NULL;
    bool is_other = false;
    CLF_TRY(read_file(path, &root, &devices));
    for (size_t i = 0; root && i < json_array_size(devices); i++) {
        json_t *entry = json_array_get(devices, i);
        if (!is_device(entry, device))
            continue;
        if (is_same(entry, device))
            found = entry;
        else
            is_other = true;
    }
    *out = json_incref(found); /* accepts NULL */
    json_decref(root);
    if (out_is_other)
        *out_is_other = is_other && !found;
    return CLF_OK;
}

static clf_status make_folder(const char *path)
{
    char *copy;
    CLF_TRY(clfi_strdup(path, &copy));
    const clf_status st = clfi_make_directories(dirname(copy));
    free(copy);
    return st;
}

int clfi_tuned_file_lock(const char *path)
{
    char *folder;
    if (make_folder(path) != CLF_OK || clfi_path_directory(path, &folder) != CLF_OK)
        return -1;
    const int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (lock >= 0)
        (void)!flock(lock, LOCK_EX); /* not every file system can */
    return lock;
}

void clfi_tuned_file_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

/* Number of entries from `first` on that are for this device with another driver or number of units. */
static size_t count_kept(const json_t *entries, size_t first, const clf_device_info *device)
{
    size_t count = 0;
    for (size_t i = first; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        count += is_device(entry, device) && !is_same(entry, device);
    }
    return count;
}

static clf_status write_file(const char *path, json_t *devices)
{
    clf_atomic_file file;
    clf_str text = CLF_STR_INIT;
    json_t *root = json_pack("{s:s, s:i, s:O}", "schema", schema, "schema_version", SCHEMA_VERSION, "devices", devices);
    clf_status st = clfi_json_write(root, JSON_INDENT(1), path, &text);
    json_decref(root);
    if (st == CLF_OK)
        st = make_folder(path);
    if (st == CLF_OK)
        st = clfi_sidecar_open(path, "{", &file); /* read_file has seen the schema */
    if (st == CLF_OK) {
        clfi_atomic_write(&file, text.data, text.length);
        st = clfi_atomic_commit(&file);
    }
    clfi_str_free(&text);
    return st;
}

clf_status clfi_tuned_file_store(const char *path, const clf_device_info *device, const json_t *entry)
{
    json_t *root;
    const json_t *old = NULL;
    CLF_TRY(read_file(path, &root, &old));
    json_t *devices = json_array(), *own = clfi_json_copy(entry);
    bool is_whole = devices && own;
    for (size_t i = 0; root && i < json_array_size(old); i++) {
        json_t *other = json_array_get(old, i);
        if (is_same(other, device))
            is_whole = is_whole && json_object_update_missing(own, other) == 0;
        const bool stays = !is_device(other, device) || (!is_same(other, device) && count_kept(old, i, device) < MOST_OF_DEVICE);
        if (stays)
            is_whole = is_whole && json_array_append(devices, other) == 0;
    }
    is_whole = is_whole && json_array_append(devices, own) == 0;
    const clf_status st =
        is_whole ? write_file(path, devices) : clfi_fail(CLF_OUT_OF_MEMORY, "%s: list of devices: not enough memory", path);
    json_decref(own);
    json_decref(devices);
    json_decref(root);
    return st;
}
