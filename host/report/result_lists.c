/* SPDX-License-Identifier: MIT */
/* Reads the devices and workloads of a result file. */
#include "report/result_parts.h"

#include <stdio.h>
#include <string.h>

#include "io/json.h"

static clf_status read_limits(const json_t *object, const char *where, const json_t **out)
{
    char inner[CLFI_RESULT_WHERE_BYTES + 16];
    const char *name;
    json_t *value;
    CLF_TRY(clfi_json_opt_object(object, where, "limits", out));
    snprintf(inner, sizeof inner, "%s.limits", where);
    json_object_foreach((json_t *)*out, name, value)
        if (!json_is_number(value) || !(json_number_value(value) >= 1e-9 && json_number_value(value) <= CLFI_RESULT_MOST))
            return clfi_result_wrong(inner, name, "a number from 1e-9 to 1e24", value);
    return CLF_OK;
}

static clf_status read_device(const json_t *object, const char *where, clfi_result_device *device)
{
    const char *status;
    CLF_TRY(clfi_json_get_int(object, where, "id", 0, INT64_MAX, &device->id));
    CLF_TRY(clfi_result_text(object, where, "name", &device->name));
    CLF_TRY(clfi_result_text(object, where, "platform", &device->platform));
    CLF_TRY(clfi_json_get_string(object, where, "vendor", &device->vendor));
    CLF_TRY(clfi_result_text(object, where, "driver", &device->driver));
    CLF_TRY(clfi_json_get_string(object, where, "opencl_c", &device->opencl_c));
    CLF_TRY(clfi_json_get_string(object, where, "type", &device->type));
    CLF_TRY(clfi_json_get_int(object, where, "compute_units", 0, INT64_MAX, &device->compute_units));
    CLF_TRY(clfi_json_get_int(object, where, "memory_bytes", 0, INT64_MAX, &device->memory_bytes));
    CLF_TRY(clfi_json_get_bool(object, where, "unified_memory", &device->unified_memory));
    CLF_TRY(clfi_json_opt_bool(object, where, "tuned", false, &device->tuned));
    CLF_TRY(clfi_json_get_string(object, where, "status", &status));
    if (strcmp(status, "unsupported") == 0)
        CLF_TRY(clfi_result_text(object, where, "reason", &device->reason));
    else if (strcmp(status, "measured") != 0)
        return clfi_result_wrong(where, "status", "\"measured\" or \"unsupported\"", json_object_get(object, "status"));
    return read_limits(object, where, &device->limits);
}

enum { KEY_BYTES = 24 };

/* The key of a device in device_places. */
static const char *device_key(int64_t id, char out[KEY_BYTES])
{
    snprintf(out, KEY_BYTES, "%lld", (long long)id);
    return out;
}

size_t clfi_result_find_device(const clfi_result *result, int64_t id)
{
    char key[KEY_BYTES];
    return clfi_result_find_place(result->device_places, device_key(id, key), result->device_count);
}

size_t clfi_result_find_workload(const clfi_result *result, const char *id)
{
    return clfi_result_find_place(result->workload_places, id, result->workload_count);
}

clf_status clfi_result_read_devices(clfi_result *result)
{
    char where[CLFI_RESULT_WHERE_BYTES], key[KEY_BYTES];
    const json_t *array;
    CLF_TRY(clfi_result_table(result, "devices", sizeof *result->devices, &array, &result->devices, &result->device_count));
    for (size_t i = 0; i < result->device_count; i++) {
        const json_t *object = json_array_get(array, i);
        CLF_TRY(read_device(object, clfi_result_where(result, "devices", i, where), &result->devices[i]));
        if (clfi_result_find_device(result, result->devices[i].id) < result->device_count)
            return clfi_result_wrong(where, "id", "an id that no other device has", json_object_get(object, "id"));
        CLF_TRY(clfi_result_add_place(result, &result->device_places, device_key(result->devices[i].id, key), i));
    }
    return CLF_OK;
}

static clf_status read_workload(const json_t *object, const char *where, clfi_result_workload *w)
{
    CLF_TRY(clfi_result_text(object, where, "id", &w->id));
    CLF_TRY(clfi_result_text(object, where, "suite", &w->suite));
    CLF_TRY(clfi_result_text(object, where, "op", &w->op));
    CLF_TRY(clfi_json_get_object(object, where, "work", &w->work));
    CLF_TRY(clfi_json_get_number(object, where, "flops", 0, CLFI_RESULT_MOST, &w->flops));
    CLF_TRY(clfi_json_get_number(object, where, "bytes", 0, CLFI_RESULT_MOST, &w->bytes));
    CLF_TRY(clfi_json_opt_number(object, where, "items", 0, CLFI_RESULT_MOST, 0, &w->items));
    CLF_TRY(clfi_json_opt_string(object, where, "item", NULL, &w->item));
    return clfi_json_opt_string(object, where, "limit", NULL, &w->limit);
}

clf_status clfi_result_read_workloads(clfi_result *result)
{
    char where[CLFI_RESULT_WHERE_BYTES];
    const json_t *array;
    CLF_TRY(clfi_result_table(result, "workloads", sizeof *result->workloads, &array, &result->workloads, &result->workload_count));
    for (size_t i = 0; i < result->workload_count; i++) {
        const json_t *object = json_array_get(array, i);
        CLF_TRY(read_workload(object, clfi_result_where(result, "workloads", i, where), &result->workloads[i]));
        if (clfi_result_find_workload(result, result->workloads[i].id) < result->workload_count)
            return clfi_result_wrong(where, "id", "an id that no other workload has", json_object_get(object, "id"));
        CLF_TRY(clfi_result_add_place(result, &result->workload_places, result->workloads[i].id, i));
    }
    return CLF_OK;
}
