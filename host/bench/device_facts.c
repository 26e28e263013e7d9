/* SPDX-License-Identifier: MIT */
/* Writes the facts of a device as JSON. */
#include "bench/device_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "op/tuned.h"

/* A text of the device as printable ASCII; other bytes, which a driver should not return, become '?'. The caller frees it. NULL: not
 * enough memory. */
static char *query_text(cl_device_id id, cl_device_info what)
{
    size_t size = 0;
    char *text = NULL;
    if (clGetDeviceInfo(id, what, 0, NULL, &size) != CL_SUCCESS)
        size = 0;
    if (clfi_alloc(size + 1, 1, "device text", &text) != CLF_OK)
        return NULL;
    if (size && clGetDeviceInfo(id, what, size, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    for (char *c = text; *c; c++)
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
    size_t length = strlen(text);
    while (length && text[length - 1] == ' ')
        text[--length] = '\0';
    return text;
}

json_t *clfi_device_facts(const clf_device *device)
{
    static const char *const types[] = {"CPU", "GPU", "accelerator", "other"};
    const clf_device_info *d = &device->info;
    char *extensions = query_text(device->id, CL_DEVICE_EXTENSIONS);
    json_t *facts = json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:s, s:i}", "id", (json_int_t)d->index, "name", d->name,
        "platform", d->platform_name, "vendor", d->vendor, "driver", d->driver_version, "opencl", d->device_version, "opencl_c",
        d->opencl_c_version, "type", types[d->type], "compute_units", (json_int_t)d->compute_units, "clock_mhz", (json_int_t)d->clock_mhz,
        "memory_bytes", (json_int_t)d->global_memory_bytes, "max_allocation_bytes", (json_int_t)d->max_allocation_bytes, "unified_memory",
        d->unified_memory, "extensions", extensions ? extensions : "", "same_hardware_as", d->same_hardware_as);
    free(extensions);
    return facts;
}

static json_t *clblast_parameters(const clf_clblast_parameters *parameters)
{
    if (!parameters)
        return json_string("default");
    json_t *kernels = json_object();
    for (size_t at = 0; at < CLFI_CLBLAST_KERNELS; at++) {
        if (!parameters->is_set[at])
            continue;
        json_t *values = json_object();
        for (size_t i = 0; i < clfi_clblast_kernels[at].count; i++)
            json_object_set_new(values, clfi_clblast_kernels[at].parameters[i], json_integer((json_int_t)parameters->value[at][i]));
        json_object_set_new(kernels, clfi_clblast_kernels[at].name, values);
    }
    return kernels;
}

clf_status clfi_device_tuning(const clf_context *context, json_t **out)
{
    clf_str first_use = CLF_STR_INIT;
    bool is_all = false;
    clf_status st = clfi_tuning_first_use_text(context, &is_all, &first_use);
    if (st == CLF_OK)
        *out = json_pack("{s:b, s:s, s:o}", "tuned", clfi_context_is_tuned(context) && !is_all, "first_use", clfi_str_text(&first_use),
                         "clblast_parameters", clblast_parameters(clfi_context_clblast_parameters(context)));
    if (st == CLF_OK && !*out)
        st = clfi_fail(CLF_OUT_OF_MEMORY, "tuned choices of a device: not enough memory");
    clfi_str_free(&first_use);
    return st;
}
