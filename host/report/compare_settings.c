/* SPDX-License-Identifier: MIT */
/* Lists how the machines, the settings and the devices of two compared runs differ. */
#include "report/compare.h"

#include <stdio.h>

#include "report/json_diff.h"

static const char *const of_host[] = {"cpu", "logical_cores", "os", "kernel"};
static const char *const of_settings[] = {"min_seconds", "rounds", "no_tuned", "environment"};
static const char *const of_device[] = {"compute_units", "tuned", "first_use"};

/* Compares those of the keys that both files have: an older version may not have recorded the others. */
static clf_status diff_known(json_t *list, const char *where, const json_t *a, const json_t *b, const char *const *keys, size_t count)
{
    char place[96];
    for (size_t i = 0; i < count; i++) {
        const json_t *of_a = json_object_get(a, keys[i]), *of_b = json_object_get(b, keys[i]);
        snprintf(place, sizeof place, "%s.%s", where, keys[i]);
        if (of_a && of_b)
            CLF_TRY(clfi_json_diff(list, place, of_a, of_b));
    }
    return CLF_OK;
}

clf_status clfi_compare_settings(clfi_comparison *c)
{
    char where[48];
    const json_t *a = c->a->document, *b = c->b->document;
    if (!(c->differences = json_array()))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "differences between two runs: not enough memory");
    CLF_TRY(diff_known(c->differences, "host", json_object_get(a, "host"), json_object_get(b, "host"), of_host, COUNT(of_host)));
    CLF_TRY(diff_known(c->differences, "settings", json_object_get(a, "settings"), json_object_get(b, "settings"), of_settings,
                       COUNT(of_settings)));
    for (size_t i = 0; i < c->a->device_count; i++) {
        snprintf(where, sizeof where, "device %lld", (long long)c->a->devices[i].id);
        CLF_TRY(diff_known(c->differences, where, json_array_get(json_object_get(a, "devices"), i),
                           json_array_get(json_object_get(b, "devices"), c->device_in_b[i]), of_device, COUNT(of_device)));
    }
    return CLF_OK;
}
