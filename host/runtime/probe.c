/* SPDX-License-Identifier: MIT */
/* Runs each probe of a device once and remembers its answer. */
#include "runtime/probe.h"

#include <stdio.h>
#include <string.h>

#include "runtime/aside.h"
#include "runtime/buffer.h"
#include "runtime/kept_text.h"
#include "runtime/launch.h"
#include "runtime/outside_build.h"
#include "runtime/probe_cases.h"
#include "runtime/program.h"
#include "runtime/shared.h"
#include "runtime/slot.h"

enum { TEXT_BYTES = CLFI_KEPT_BYTES };

static const char kind[] = "probe"; /* kind of the kept texts */
static const char wrong_numbers[] = "no: wrong numbers";

typedef struct probe_state {
    char text[CLFI_PROBE_COUNT][TEXT_BYTES]; /* "": not asked yet */
} probe_state;

static const clf_slot_type probe_slot = {"probes", sizeof(probe_state), NULL};

static clf_status run_on(clf_context *context, const clf_probe_case *probe, const clf_probe_run *run, clf_buffer *x, clf_buffer *y,
                         bool *out)
{
    clf_probe_word given[CLFI_PROBE_WORDS], found[CLFI_PROBE_WORDS];
    probe->fill(run, given);
    CLF_TRY(clfi_buffer_write(x, 0, given, (size_t)run->x_words * sizeof *given));
    clf_launch launch = clfi_launch(context, &run->spec);
    clfi_arg_buffer(&launch, x);
    clfi_arg_buffer(&launch, y);
    CLF_TRY(clfi_launch_1d(&launch, (size_t)run->groups, (size_t)run->group));
    CLF_TRY(clfi_buffer_read(y, 0, found, (size_t)run->y_words * sizeof *found));
    *out = probe->is_right(run, given, found);
    return CLF_OK;
}

static clf_status run_case(clf_context *context, const clf_probe_case *probe, const clf_probe_run *run, bool *out)
{
    clf_buffer *x = NULL, *y = NULL;
    clf_status st = clfi_buffer_create(context, (size_t)run->x_words * sizeof(clf_probe_word), &x);
    if (st == CLF_OK)
        st = clfi_buffer_create(context, (size_t)run->y_words * sizeof(clf_probe_word), &y);
    if (st == CLF_OK)
        st = run_on(context, probe, run, x, y, out);
    clfi_buffer_release(x);
    clfi_buffer_release(y);
    return st;
}

static clf_status run_probe(clf_context *context, const clf_probe_case *probe, const clf_probe_run *run, char text[TEXT_BYTES])
{
    const clf_aside aside = clfi_aside_begin_undumped(context);
    bool is_fine = false;
    const clf_status st = run_case(context, probe, run, &is_fine);
    clfi_aside_end(context, aside);
    if (st == CLF_OK)
        snprintf(text, TEXT_BYTES, "%s", is_fine ? "yes" : wrong_numbers);
    else
        snprintf(text, TEXT_BYTES, "no: %s", clf_last_error());
    return st;
}

/* Runs the probe in a process of its own, which may crash or hang. The program is built before, so that the time limit applies to the run.
 * If the process did not finish, text receives the reason. */
static clf_status run_apart(clf_context *context, clf_probe what, const clf_probe_run *run, const clf_kept_key *key, char text[TEXT_BYTES])
{
    const clf_kernel_spec *const spec = &run->spec;
    const clf_aside aside = clfi_aside_begin_undumped(context);
    clf_build_job job = {.spec = spec, .key = key->program, .probe = (int)what};
    clf_program_state state = CLFI_PROGRAM_MISSING;
    clf_status st = clfi_program_find(context, spec, &state);
    if (st == CLF_OK && state == CLFI_PROGRAM_MISSING)
        st = clfi_programs_build(context, &spec, 1);
    if (st == CLF_OK && state == CLFI_PROGRAM_MISSING)
        st = clfi_program_find(context, spec, &state);
    if (st == CLF_OK && state == CLFI_PROGRAM_THERE) {
        pthread_mutex_lock(&context->shared->lock);
        clfi_outside_build(context, &job, 1);
        pthread_mutex_unlock(&context->shared->lock);
    }
    clfi_aside_end(context, aside);
    if (job.reason.length > 0)
        snprintf(text, TEXT_BYTES, "no: %s", job.reason.data);
    clfi_build_job_clear(&job);
    return st;
}

static void run_and_keep(clf_context *context, const clf_probe_case *probe, const clf_probe_run *run, const clf_kept_key *key,
                         char text[TEXT_BYTES])
{
    const clf_status st = run_probe(context, probe, run, text);
    if (st == CLF_OK || st == CLF_BUILD) /* other failures, such as too little memory, may not happen again */
        clfi_kept_write(context, key, text);
}

static bool has_answer(clf_context *context, clf_probe what, const clf_probe_run *run, const clf_kept_key *key, char text[TEXT_BYTES])
{
    if (!clfi_probe_cases[what].is_apart || context->kernel_dir || !key->program[0] || !clfi_outside_build_is_possible(context))
        return false;
    const clf_status st = run_apart(context, what, run, key, text);
    if (st != CLF_OK)
        clfi_log(context, CLF_LOG_INFO, "probe: %s", clf_last_error());
    if (text[0])
        clfi_kept_write(context, key, text);
    return text[0] || clfi_kept_read(context, key, text);
}

static void find(clf_context *context, clf_probe what, char text[TEXT_BYTES])
{
    const clf_probe_case *probe = &clfi_probe_cases[what];
    const clf_probe_run run = probe->run(&context->device.caps, probe->group);
    clf_kept_key key;
    if (probe->permit && probe->permit(&context->device.caps) != CLF_OK) { /* not kept: another process may be permitted */
        snprintf(text, TEXT_BYTES, "no: %s", clf_last_error());
        return;
    }
    (void)clfi_kept_find(context, kind, &run.spec, &key); /* without a key nothing is kept */
    if (clfi_kept_read(context, &key, text))
        return;
    if (!has_answer(context, what, &run, &key, text))
        run_and_keep(context, probe, &run, &key, text);
    const bool is_loud = probe->is_apart && strcmp(text, wrong_numbers) == 0;
    clfi_log(context, is_loud ? CLF_LOG_ERROR : CLF_LOG_INFO, "probe of %s on %s: %s", probe->name, context->device.info.name, text);
}

void clfi_probe_run_here(clf_context *context, clf_probe what)
{
    char text[TEXT_BYTES];
    clf_kept_key key;
    if (what <= CLFI_PROBE_NONE || what >= CLFI_PROBE_COUNT || !clfi_probe_is_claimed(&context->device.caps, what))
        return;
    const clf_probe_case *probe = &clfi_probe_cases[what];
    const clf_probe_run run = probe->run(&context->device.caps, probe->group);
    if ((!probe->permit || probe->permit(&context->device.caps) == CLF_OK) && clfi_kept_find(context, kind, &run.spec, &key) == CLF_OK)
        run_and_keep(context, probe, &run, &key, text);
}

const char *clfi_probe_name(clf_probe what)
{
    return what == CLFI_PROBE_NONE ? "nothing" : clfi_probe_cases[what].name;
}

bool clfi_probe_is_claimed(const clf_device_caps *caps, clf_probe what)
{
    const clf_probe_case *probe = &clfi_probe_cases[what];
    return what == CLFI_PROBE_NONE || ((size_t)probe->group <= caps->max_work_group_size && probe->is_claimed(caps));
}

const char *clfi_probe_text(const clf_context *context, clf_probe what)
{
    probe_state *state;
    if (what == CLFI_PROBE_NONE)
        return "yes";
    if (!clfi_probe_is_claimed(&context->device.caps, what))
        return "no: the device does not support it";
    if (clfi_slot_get(context, &probe_slot, &state) != CLF_OK)
        return "no: not enough memory";
    if (!state->text[what][0])
        find((clf_context *)context, what, state->text[what]); /* see clfi_slot_get */
    return state->text[what];
}

bool clfi_probe(const clf_context *context, clf_probe what)
{
    return strcmp(clfi_probe_text(context, what), "yes") == 0;
}

int clfi_probe_subgroups(const clf_context *context, clf_probe family, int group)
{
    int what = family;
    while (what < CLFI_PROBE_COUNT && clfi_probe_cases[what].group != group)
        what++;
    const bool is_there = what < CLFI_PROBE_COUNT && clfi_probe_cases[what].run == clfi_probe_cases[family].run;
    return is_there && clfi_probe(context, (clf_probe)what) ? context->device.caps.subgroup_size : 0;
}
