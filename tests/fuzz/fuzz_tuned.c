/* SPDX-License-Identifier: MIT */
/* Any bytes as the entry of a device in tuned.json: refused with a reason, or read, written as an entry again and read back the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "op/tuned.h"
#include "runtime/context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A device that was never opened: reading choices asks it for its limits only. */
static clf_context *some_device(void)
{
    static clf_context context;
    clf_device_info *info = &context.device.info;
    info->name = "device";
    info->platform_name = "platform";
    info->driver_version = "driver";
    info->max_work_group_size = context.device.caps.max_work_group_size = 256;
    info->local_memory_bytes = context.device.caps.local_memory_bytes = 32 << 10;
    return &context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clf_context *context = some_device();
    json_t *entry, *again;
    clf_tuning tuning, copy;
    if (clfi_json_parse((const char *)data, size, "fuzz.json", &entry) != CLF_OK)
        return 0;
    if (clfi_tuning_parse(context, entry, &tuning) != CLF_OK) {
        if (clf_last_error()[0] == '\0')
            abort();
        json_decref(entry);
        return 0;
    }
    if (clfi_tuning_entry(&context->device.info, &tuning, &again) != CLF_OK || clfi_tuning_parse(context, again, &copy) != CLF_OK ||
        copy.count != tuning.count)
        abort();
    for (size_t i = 0; i < copy.count; i++) {
        const clf_gemm_rule *x = &tuning.rules[i], *y = &copy.rules[i];
        if (x->kind != y->kind || x->batch != y->batch || x->m != y->m || x->n != y->n || x->k != y->k || x->engine != y->engine ||
            memcmp(&x->tile, &y->tile, sizeof x->tile) != 0 || x->is_first_use != y->is_first_use)
            abort();
    }
    for (int i = 0; i < CLFI_CLBLAST_KERNELS; i++)
        if (copy.clblast.is_set[i] != tuning.clblast.is_set[i] ||
            (copy.clblast.is_set[i] && memcmp(copy.clblast.value[i], tuning.clblast.value[i], sizeof copy.clblast.value[i]) != 0))
            abort();
    clfi_tuning_clear(&tuning);
    clfi_tuning_clear(&copy);
    json_decref(again);
    json_decref(entry);
    return 0;
}
