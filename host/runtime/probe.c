/* SPDX-License-Identifier: MIT */
/* Probing a device once, and remembering what came of it. */
#include "runtime/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/buffer.h"
#include "runtime/cache_file.h"
#include "runtime/launch.h"
#include "runtime/program_cache.h"
#include "runtime/slot.h"

enum { TEXT_BYTES = 128, GROUPS = 3, SMALL_GROUP = 64, LARGE_GROUP = 256, VALUES = GROUPS * LARGE_GROUP * 2 };

const char *const clfi_probe_names[CLFI_PROBE_COUNT] = {[CLFI_PROBE_SUBGROUPS] = "sub-group sums"};

typedef struct probe_state {
    char text[CLFI_PROBE_COUNT][TEXT_BYTES]; /* "": not asked yet */
} probe_state;

static const clf_slot_type probe_slot = {"probes", sizeof(probe_state), NULL};

/* Numbers of both signs whose sums differ from one another. */
static float value_at(int i)
{
    return (float)(i * 37 % 101 - 40) * 0.125f;
}

/* Every item must hold 3 times the sum of its group, to the rounding of that many additions in any order. */
static bool is_right(const float *y, int group)
{
    for (int i = 0; i < GROUPS * group * 2; i++) {
        const int first = i / (2 * group) * 2 * group + i % 2;
        double sum = 0, size = 0;
        for (int item = 0; item < group; item++) {
            sum += 3.0 * (double)value_at(first + 2 * item);
            size += 3.0 * fabs((double)value_at(first + 2 * item));
        }
        if (!(fabs((double)y[i] - sum) <= 2 * group * 0x1p-24 * size))
            return false;
    }
    return true;
}

static clf_status run_on(clf_context *context, const clf_kernel_spec *spec, int group, clf_buffer *x, clf_buffer *y, bool *out)
{
    float values[VALUES];
    const size_t bytes = (size_t)GROUPS * (size_t)group * 2 * sizeof(float);
    for (int i = 0; i < GROUPS * group * 2; i++)
        values[i] = value_at(i);
    CLF_TRY(clfi_buffer_write(x, 0, values, bytes));
    clf_launch launch = clfi_launch(context, spec);
    clfi_arg_buffer(&launch, x);
    clfi_arg_buffer(&launch, y);
    CLF_TRY(clfi_launch_1d(&launch, GROUPS, (size_t)group));
    CLF_TRY(clfi_buffer_read(y, 0, values, bytes));
    *out = is_right(values, group);
    return CLF_OK;
}

static clf_status run_sums(clf_context *context, const clf_kernel_spec *spec, int group, bool *out)
{
    const size_t bytes = (size_t)GROUPS * (size_t)group * 2 * sizeof(float);
    clf_buffer *x = NULL, *y = NULL;
    clf_status st = clfi_buffer_create(context, bytes, &x);
    if (st == CLF_OK)
        st = clfi_buffer_create(context, bytes, &y);
    if (st == CLF_OK)
        st = run_on(context, spec, group, x, y, out);
    clfi_buffer_release(x);
    clfi_buffer_release(y);
    return st;
}

/* Within a rehearsal, too, and without a copy of the kernel for other compilers. */
static clf_status run_probe(clf_context *context, const clf_kernel_spec *spec, int group, char text[TEXT_BYTES])
{
    struct clf_rehearsal *const rehearsal = context->rehearsal;
    char *const dump = context->kernel_dump;
    bool is_fine = false;
    context->rehearsal = NULL;
    context->kernel_dump = NULL;
    const clf_status st = run_sums(context, spec, group, &is_fine);
    context->rehearsal = rehearsal;
    context->kernel_dump = dump;
    if (st == CLF_OK)
        snprintf(text, TEXT_BYTES, "%s", is_fine ? "yes" : "no: wrong numbers");
    else
        snprintf(text, TEXT_BYTES, "no: %s", clf_last_error());
    return st;
}

/* Bound to the kernel's text as programs are. False: nothing is remembered. */
static bool recall(const clf_context *context, const char *name, const char *key, char text[TEXT_BYTES])
{
    clf_str file = CLF_STR_INIT;
    if (!context->shared->cache)
        return false;
    const clf_status st = clfi_cache_file_read(context->shared->cache, name, key, CLFI_CACHE_CONTENT_AT + TEXT_BYTES, &file);
    if (st == CLF_OK)
        snprintf(text, TEXT_BYTES, "%.*s", (int)(file.length - CLFI_CACHE_CONTENT_AT), file.data + CLFI_CACHE_CONTENT_AT);
    clfi_str_free(&file);
    return st == CLF_OK && text[0] != '\0';
}

static void find_subgroups(clf_context *context, char text[TEXT_BYTES])
{
    const int group = context->device.caps.max_work_group_size < LARGE_GROUP ? SMALL_GROUP : LARGE_GROUP;
    clf_kernel_spec spec = clfi_kernel_spec("probe_row_sum.cl", "probe_row_sum");
    clf_str source = CLF_STR_INIT;
    char key[CLFI_HASH_TEXT_BYTES] = "", name[64];
    clfi_spec_int(&spec, "WG", group);
    clfi_spec_int(&spec, "LANES", group);
    clfi_spec_int(&spec, "HAS_SUBGROUPS", 1);
    clf_status st = clfi_kernel_source(context->kernel_dir, NULL, spec.file, &source);
    if (st == CLF_OK)
        st = clfi_program_cache_key(context, &spec, &source, key);
    clfi_str_free(&source);
    snprintf(name, sizeof name, "probe-%s", key);
    if (st == CLF_OK && recall(context, name, key, text))
        return;
    const clf_status run = run_probe(context, &spec, group, text);
    clfi_log(context, CLF_LOG_INFO, "probe of %s: %s", clfi_probe_names[CLFI_PROBE_SUBGROUPS], text);
    const bool is_lasting = st == CLF_OK && (run == CLF_OK || run == CLF_BUILD); /* memory may be there the next time */
    if (is_lasting && context->shared->cache && clfi_cache_file_write(context->shared->cache, name, key, text, strlen(text)) != CLF_OK)
        clfi_log(context, CLF_LOG_INFO, "probe: %s", clf_last_error());
}

const char *clfi_probe_text(clf_context *context, clf_probe what)
{
    probe_state *state;
    if (!context->device.caps.has_subgroups)
        return "no: the device has none";
    if (clfi_slot_get(context, &probe_slot, &state) != CLF_OK)
        return "no: not enough memory";
    if (!state->text[what][0])
        find_subgroups(context, state->text[what]);
    return state->text[what];
}

bool clfi_probe(clf_context *context, clf_probe what)
{
    return strcmp(clfi_probe_text(context, what), "yes") == 0;
}
