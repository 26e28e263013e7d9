/* SPDX-License-Identifier: MIT */
/* Runs rehearsals: finds the kernels that are missing, builds them, and repeats for engines that had to be left out. */
#include "runtime/rehearsal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/arena.h"
#include "runtime/program.h"

clf_status clfi_rehearsal_note(clf_context *context, const clf_kernel_spec *spec, size_t *out_index)
{
    clf_rehearsal *r = context->rehearsal;
    size_t i = 0;
    while (i < r->count && (strcmp(r->kernels[i].spec.options, spec->options) != 0 || strcmp(r->kernels[i].spec.kernel, spec->kernel) != 0))
        i++;
    if (i == r->count) {
        CLF_TRY(clfi_grow(&r->kernels, &r->capacity, r->count + 1, sizeof *r->kernels, "kernels that are needed"));
        r->kernels[r->count++] = (clf_rehearsed_kernel){*spec, 0, false};
    }
    r->kernels[i].askers |= context->asker;
    *out_index = i;
    return CLF_OK;
}

void clfi_rehearsal_size(clf_context *context, size_t index, unsigned dimensions, const size_t *local)
{
    size_t *size = context->rehearsal->kernels[index].spec.local;
    for (unsigned i = 0; i < 3; i++)
        size[i] = i < dimensions ? local[i] : 1;
}

/* Marks engines whose kernels are unusable, and counts unusable graphs. missing[0 .. *out_count): the kernels whose programs must be
 * built. */
static clf_status find_missing(clf_context *context, const clf_rehearsal *r, const clf_kernel_spec **missing, size_t *out_count)
{
    *out_count = 0;
    for (size_t i = 0; i < r->count; i++) {
        clf_program_state state;
        CLF_TRY(clfi_program_find(context, &r->kernels[i].spec, &state));
        if (state == CLFI_PROGRAM_MISSING)
            missing[(*out_count)++] = &r->kernels[i].spec;
        else if (state == CLFI_PROGRAM_UNUSABLE) {
            clfi_program_blame(context, &r->kernels[i].spec, r->kernels[i].askers);
            context->unbuilt_graphs += r->kernels[i].is_graphs;
        }
    }
    return CLF_OK;
}

static clf_status prepare_programs(clf_context *context, const clf_rehearsal *r)
{
    const clf_kernel_spec **missing;
    size_t count;
    const uint64_t unbuilt = context->unbuilt;
    CLF_TRY(clfi_alloc(r->count, sizeof *missing, "kernels that are needed", &missing));
    clf_status st = find_missing(context, r, missing, &count);
    context->builds_expected = context->stats.programs_built + count;
    if (st == CLF_OK && context->unbuilt == unbuilt && clfi_programs_build_gains(context, count)) {
        st = clfi_programs_build(context, missing, count);
        if (st == CLF_OK)
            st = find_missing(context, r, missing, &count);
    }
    free(missing);
    return st;
}

/* *out_is_final false: an engine or a launch graph is left out from now on, so the work must be rehearsed again. */
static clf_status rehearse_once(clf_context *context, clf_status (*work)(void *user), void *user, bool *out_is_final)
{
    clf_rehearsal rehearsal = {.count = 0};
    const uint64_t unbuilt = context->unbuilt;
    const size_t unbuilt_graphs = context->unbuilt_graphs;
    const clf_arena_mark mark = clfi_arena_top(context);
    context->rehearsal = &rehearsal;
    clf_status st = work(user);
    context->rehearsal = NULL;
    clfi_arena_release(context, mark);
    if (st == CLF_OK && rehearsal.count > 0)
        st = prepare_programs(context, &rehearsal);
    free(rehearsal.kernels);
    *out_is_final = context->unbuilt == unbuilt && context->unbuilt_graphs == unbuilt_graphs;
    return st;
}

clf_status clfi_rehearse(clf_context *context, clf_status (*work)(void *user), void *user)
{
    clf_status st;
    bool is_final;
    do
        st = rehearse_once(context, work, user, &is_final);
    while (st == CLF_OK && !is_final);
    return st;
}
