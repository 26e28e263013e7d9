/* SPDX-License-Identifier: MIT */
/* clformer devices: lists every platform and device, as text or JSON. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/gpu_hint.h"
#include "console/json_line.h"
#include "jobs/platform_probe.h"
#include "jobs/session.h"
#include "op/engines.h"
#include "op/left_out.h"
#include "op/tuned.h"
#include "op/tuned_file.h"
#include "runtime/launch_budget.h"
#include "runtime/matrix_rate.h"
#include "runtime/probe.h"
#include "runtime/queue_create.h"

/* Settings that a program's context on a device would use. */
typedef struct device_state {
    bool is_tuned;        /* a context would use choices that clformer tune made */
    char note[512];       /* why not, if the file has choices for the device; "": nothing to say */
    char first_use[1024]; /* what was measured when a model was first loaded; "": nothing */
    double launch_ms;     /* the budget of a launch; 0: no limit */
} device_state;

/* Finds whether a program's context would use tuned choices, by opening one. Opens none if the file of choices lacks the device. */
static clf_status find_tuned(const clf_device_info *d, bool is_refused, device_state *out)
{
    char selector[32];
    char *path = NULL;
    json_t *entry = NULL;
    bool is_other = false;
    clf_context *context = NULL;
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    bool is_all = false;
    *out = (device_state){.is_tuned = false};
    if (is_refused || !d->usable || clfi_tuned_path(&path) != CLF_OK)
        return CLF_OK;
    const clf_status found = clfi_tuned_file_find(path, d, &is_other, &entry);
    free(path);
    if (found != CLF_OK)
        snprintf(out->note, sizeof out->note, "%s", clf_last_error());
    else if (is_other)
        snprintf(out->note, sizeof out->note, "tuned with another driver or number of compute units");
    if (!entry)
        return CLF_OK;
    json_decref(entry);
    snprintf(selector, sizeof selector, "%zu", d->index);
    params.device = selector;
    CLF_TRY(clf_context_create(&params, &context));
    out->is_tuned = clfi_context_is_tuned(context);
    if (!out->is_tuned)
        snprintf(out->note, sizeof out->note, "the choices kept for it were refused or are switched off; CLF_LOG=error shows why");
    else
        st = clfi_tuning_first_use_text(context, &is_all, &text);
    if (st == CLF_OK)
        snprintf(out->first_use, sizeof out->first_use, "%s", clfi_str_text(&text));
    out->is_tuned = out->is_tuned && !is_all;
    clfi_str_free(&text);
    clf_context_destroy(context);
    return st;
}

/* Results of the probes, which test what the device claims to support; text "": not claimed, or not tested. */
typedef struct probe_answers {
    char text[CLFI_PROBE_COUNT][160];
    char matrix_unit[256]; /* the unit's name, its probe and its peak; "": the device has none */
    double matrix_gflops;  /* 0: not measured */
} probe_answers;

/* Describes the matrix unit: "NVIDIA mma bfloat16, probe passed, 612 TFLOP/s, 9.7 times the peak of float32". */
static void ask_matrix_unit(clf_context *context, probe_answers *out)
{
    const clf_device_caps *caps = &context->device.caps;
    const char *name = clfi_matrix_unit_info(caps->matrix_unit)->name, *answer = out->text[CLFI_PROBE_MATRIX];
    const char *emulated = caps->emulates_matrix_unit ? " (emulated)" : "";
    if (caps->matrix_unit == CLFI_MATRIX_NONE)
        return;
    const clf_matrix_rates rates = clfi_matrix_rates(context);
    out->matrix_gflops = rates.unit;
    if (strcmp(answer, "yes") != 0)
        snprintf(out->matrix_unit, sizeof out->matrix_unit, "%s%s, not used: probe: %s", name, emulated, answer);
    else if (rates.unit > 0)
        snprintf(out->matrix_unit, sizeof out->matrix_unit, "%s%s, probe passed, %.3g TFLOP/s, %.2g times the peak of float32", name,
                 emulated, rates.unit / 1e3, rates.unit / rates.floats);
    else
        snprintf(out->matrix_unit, sizeof out->matrix_unit, "%s%s, probe passed, peak not measured: %s", name, emulated,
                 rates.failure ? rates.failure : "no memory");
}

/* Probes the features that the device claims to support, in a context created for the probes. */
static void ask_probes(const clf_device *device, probe_answers *out)
{
    clf_context *context = NULL;
    const clf_status st = clfi_context_create_on(device, &context);
    const clf_device_caps *caps = context ? &context->device.caps : &device->caps;
    for (int i = CLFI_PROBE_NONE + 1; i < CLFI_PROBE_COUNT; i++) {
        if (!clfi_probe_is_claimed(caps, (clf_probe)i))
            continue;
        if (st == CLF_OK)
            snprintf(out->text[i], sizeof out->text[i], "%s", clfi_probe_text(context, (clf_probe)i));
        else
            snprintf(out->text[i], sizeof out->text[i], "not run: %s", clf_last_error());
    }
    if (st == CLF_OK)
        ask_matrix_unit(context, out);
    clf_context_destroy(context);
}

/* Precisions that matrix engines of this device compute at, "highest" or "highest, medium". */
static void precisions_text(const clf_device_caps *caps, const probe_answers *probes, char *out, size_t size)
{
    const clf_engine_table *table = &clfi_engine_tables[CLF_OP_GEMM];
    unsigned found = 0;
    for (size_t i = 0; i < table->count; i++) {
        const clf_engine *engine = &table->engines[i];
        if (clfi_engine_is_for(engine, caps) && strncmp(probes->text[engine->probe], "no:", 3) != 0)
            found |= 1u << engine->precision;
    }
    cli_precisions_text(found, out, size);
}

/* Prints the kernels remembered as left out on a device, one line each. */
static void print_left_out(const clf_device_info *d, const char *title)
{
    clf_str lines = CLF_STR_INIT;
    (void)!clfi_engines_remembered(d, &lines);
    for (const char *at = clfi_str_text(&lines); *at; at += strcspn(at, "\n") + 1)
        printf("   %s%.*s\n", title, (int)strcspn(at, "\n"), at);
    clfi_str_free(&lines);
}

/* Appends each line of `text` to the list. */
static void append_lines(json_t *list, const clf_str *text)
{
    for (const char *at = clfi_str_text(text); *at; at += strcspn(at, "\n") + 1)
        json_array_append_new(list, json_stringn(at, strcspn(at, "\n")));
}

static json_t *left_out_json(const clf_device_info *d)
{
    clf_str lines = CLF_STR_INIT;
    json_t *list = json_array();
    (void)!clfi_engines_remembered(d, &lines);
    append_lines(list, &lines);
    clfi_str_free(&lines);
    return list;
}

static const char *type_name(clf_device_type type)
{
    static const char *const names[] = {"CPU", "GPU", "accelerator", "other"};
    return names[type];
}

static void print_short(const clf_device *device, const device_state *state)
{
    const clf_device_info *d = &device->info;
    printf("%zu: %s%s\n", d->index, d->name, d->is_default ? "  [default]" : "");
    printf("   %s, %u compute %s, %.1f GiB%s, at most %.1f GiB in one allocation; %s%s", type_name(d->type), d->compute_units,
           clfi_plural(d->compute_units, "unit", "units"), (double)d->global_memory_bytes / 0x1p30,
           d->unified_memory ? " shared with the host" : " of its own", (double)d->max_allocation_bytes / 0x1p30, d->platform_name,
           state->is_tuned ? "; tuned" : "");
    if (state->launch_ms > 0)
        printf("; launches of up to %g ms", state->launch_ms);
    if (!d->usable)
        printf("; not usable: %s", d->reason);
    if (d->is_default)
        printf("; default because: %s", d->default_reason);
    if (d->same_hardware_as >= 0)
        printf("; the same hardware as device %d", d->same_hardware_as);
    putchar('\n');
    print_left_out(d, "left out: ");
}

static void print_device(const clf_device *device, const device_state *state)
{
    const clf_device_info *d = &device->info;
    char precisions[64];
    probe_answers probes = {.matrix_unit = ""};
    if (d->usable)
        ask_probes(device, &probes);
    precisions_text(&device->caps, &probes, precisions, sizeof precisions);
    printf("%zu: %s%s\n", d->index, d->name, d->is_default ? "  [default]" : "");
    printf("   platform      %s (selector %zu:%zu)\n", d->platform_name, d->platform_index, d->platform_device_index);
    printf("   vendor        %s\n", d->vendor);
    printf("   driver        %s; %s; %s\n", d->driver_version, d->device_version, d->opencl_c_version);
    printf("   type          %s, %u compute %s at %u MHz, %u %s in a vector, work-groups of up to %zu\n", type_name(d->type),
           d->compute_units, clfi_plural(d->compute_units, "unit", "units"), d->clock_mhz, d->native_vector_width_float,
           clfi_plural(d->native_vector_width_float, "float", "floats"), d->max_work_group_size);
    printf("   memory        %.2f GiB%s, largest allocation %.2f GiB, local %.0f KiB, alignment %llu bytes\n",
           (double)d->global_memory_bytes / 0x1p30, d->unified_memory ? " shared with the host" : " of its own",
           (double)d->max_allocation_bytes / 0x1p30, (double)d->local_memory_bytes / 0x1p10, (unsigned long long)d->base_alignment_bytes);
    printf("   launches      %s", state->launch_ms > 0 ? "" : "any length\n");
    if (state->launch_ms > 0)
        printf("at most %g ms by estimate, longer ones are split (CLF_LAUNCH_MS)\n", state->launch_ms);
    printf("   optional      fp16 %s, fp64 %s, sub-groups %s, integer dot %s\n", d->has_fp16 ? "yes" : "no", d->has_fp64 ? "yes" : "no",
           d->has_subgroups ? "yes" : "no", d->has_integer_dot ? "yes" : "no");
    printf("   precision     %s (matrix product precisions available)\n", precisions);
    if (d->usable)
        printf("   usable        yes\n");
    else
        printf("   usable        no: %s\n", d->reason);
    for (int i = 0; i < CLFI_PROBE_COUNT; i++)
        if (probes.text[i][0])
            printf("   probes        %s %s\n", clfi_probe_name((clf_probe)i), probes.text[i]);
    if (probes.matrix_unit[0])
        printf("   matrix unit   %s\n", probes.matrix_unit);
    if (state->is_tuned)
        printf("   tuned         yes\n");
    else
        printf("   tuned         no%s%s\n", state->note[0] ? ": " : "", state->note);
    if (state->first_use[0])
        printf("   first use     large products, by rows, columns in and columns out: %s\n", state->first_use);
    if (d->is_default)
        printf("   default       because: %s\n", d->default_reason);
    if (d->same_hardware_as >= 0)
        printf("   note          the same hardware as device %d\n", d->same_hardware_as);
    print_left_out(d, "left out      ");
}

static json_t *device_json(const clf_device *device, const device_state *state, bool all)
{
    const clf_device_info *d = &device->info;
    char precisions[64];
    probe_answers probes = {.matrix_unit = ""};
    json_t *answers = json_object();
    if (all && d->usable)
        ask_probes(device, &probes);
    precisions_text(&device->caps, &probes, precisions, sizeof precisions);
    for (int i = 0; i < CLFI_PROBE_COUNT; i++)
        if (probes.text[i][0])
            json_object_set_new(answers, clfi_probe_name((clf_probe)i), json_string(probes.text[i]));
    return json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:b, s:b, s:s, "
        "s:b, s:s, s:i, s:b, s:s, s:s, s:s, s:o, s:o, s:f, "
        "s:s, s:f}",
        "index", (json_int_t)d->index, "name", d->name, "vendor", d->vendor, "platform", d->platform_name, "driver", d->driver_version,
        "device_version", d->device_version, "opencl_c_version", d->opencl_c_version, "platform_index", (json_int_t)d->platform_index,
        "platform_device_index", (json_int_t)d->platform_device_index, "type", type_name(d->type), "compute_units",
        (json_int_t)d->compute_units, "clock_mhz", (json_int_t)d->clock_mhz, "global_memory_bytes", (json_int_t)d->global_memory_bytes,
        "max_allocation_bytes", (json_int_t)d->max_allocation_bytes, "local_memory_bytes", (json_int_t)d->local_memory_bytes,
        "base_alignment_bytes", (json_int_t)d->base_alignment_bytes, "max_work_group_size", (json_int_t)d->max_work_group_size,
        "native_vector_width_float", (json_int_t)d->native_vector_width_float, "unified_memory", d->unified_memory, "fp16", d->has_fp16,
        "fp64", d->has_fp64, "subgroups", d->has_subgroups, "integer_dot", d->has_integer_dot, "usable", d->usable, "reason", d->reason,
        "default", d->is_default, "default_reason", d->default_reason, "same_hardware_as", d->same_hardware_as, "tuned", state->is_tuned,
        "tuned_note", state->note, "first_use", state->first_use, "precision", precisions, "probes", answers, "left_out", left_out_json(d),
        "launch_ms", state->launch_ms, "matrix_unit", probes.matrix_unit, "matrix_gflops", probes.matrix_gflops);
}

/* Prints each line of `text` after the title. */
static void print_lines(const char *title, const clf_str *text)
{
    for (const char *at = clfi_str_text(text); *at; at += strcspn(at, "\n") + 1)
        printf("%s: %.*s\n", title, (int)strcspn(at, "\n"), at);
}

/* Appends the reasons why a GPU may be missing, one per line; none if a GPU can be used. */
static clf_status find_hints(const clf_device_list *list, clf_str *out)
{
    bool has_idle_rusticl = false, has_usable_gpu = false;
    const cli_gpu_places places = cli_gpu_places_here();
    for (size_t i = 0; i < clf_device_list_count(list); i++)
        has_usable_gpu |= list->devices[i].info.usable && list->devices[i].info.type == CLF_DEVICE_TYPE_GPU;
    for (size_t i = 0; clf_device_list_note(list, i); i++)
        has_idle_rusticl |= strncmp(clf_device_list_note(list, i), "rusticl:", 8) == 0;
    return has_usable_gpu ? CLF_OK : cli_gpu_hints(&places, has_idle_rusticl, out);
}

static clf_status print_json(const clf_device_list *list, const device_state *states, bool all, const clf_str *broken, const clf_str *hints)
{
    json_t *devices = json_array(), *notes = json_array(), *missing = json_array();
    for (size_t i = 0; i < clf_device_list_count(list); i++)
        json_array_append_new(devices, device_json(&list->devices[i], &states[i], all));
    for (size_t i = 0; clf_device_list_note(list, i); i++)
        json_array_append_new(notes, json_string(clf_device_list_note(list, i)));
    append_lines(notes, broken);
    append_lines(missing, hints);
    json_t *root = json_pack("{s:o, s:o, s:o}", "devices", devices, "notes", notes, "hints", missing);
    return cli_json_print(root, true, JSON_INDENT(2), "devices");
}

static clf_status print_text(const clf_device_list *list, const device_state *states, bool all, const clf_str *broken, const clf_str *hints)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; i < clf_device_list_count(list) && st == CLF_OK; i++) {
        if (!all) {
            print_short(&list->devices[i], &states[i]);
            continue;
        }
        print_device(&list->devices[i], &states[i]);
        clfi_str_clear(&text);
        st = clfi_device_details(&list->devices[i], &text);
        fputs(clfi_str_text(&text), stdout);
    }
    for (size_t i = 0; clf_device_list_note(list, i); i++)
        printf("note: %s\n", clf_device_list_note(list, i));
    print_lines("note", broken);
    print_lines("hint", hints);
    clfi_str_free(&text);
    return st;
}

static clf_status list_devices(bool as_json, bool all, bool no_tuned)
{
    clf_device_list *list = NULL;
    device_state *states = NULL;
    clf_str broken = CLF_STR_INIT, hints = CLF_STR_INIT;
    char *folder = NULL;
    clf_status st;
    CLF_GOTO(cli_platforms_probe(&broken, &folder));
    CLF_GOTO(clf_device_list_create(&list));
    CLF_GOTO(clfi_alloc(clf_device_list_count(list), sizeof *states, "devices", &states));
    for (size_t i = 0; i < clf_device_list_count(list); i++) {
        CLF_GOTO(find_tuned(clf_device_list_get(list, i), no_tuned, &states[i]));
        CLF_GOTO(clfi_budget_ms(&list->devices[i], 0, clfi_background_is_set(), &states[i].launch_ms));
    }
    CLF_GOTO(find_hints(list, &hints));
    st = as_json ? print_json(list, states, all, &broken, &hints) : print_text(list, states, all, &broken, &hints);
done:
    cli_platforms_release(folder);
    clfi_str_free(&broken);
    clfi_str_free(&hints);
    free(states);
    clf_device_list_destroy(list);
    return st;
}

int cmd_devices(const cli_command *self, int argc, char **argv)
{
    int as_json = 0, all = 0, no_tuned = 0, positional;
    const cli_option table[] = {
        {"all", 0, NULL, "show all that the driver reports, with caches, limits and extensions", CLI_FLAG, &all},
        {"json", 0, NULL, "print JSON", CLI_FLAG, &as_json},
        {"no-tuned", 0, NULL, "ignore the choices that clformer tune keeps", CLI_FLAG, &no_tuned},
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional > 0)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "devices: unexpected argument \"%s\"", argv[0]);
    if (st == CLF_OK)
        st = list_devices(as_json, all, no_tuned);
    return st == CLF_OK ? 0 : cli_fail(st);
}
