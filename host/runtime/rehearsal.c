/* SPDX-License-Identifier: MIT */
/* Rehearsals. */
#include "runtime/rehearsal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/arena.h"
#include "runtime/program.h"

clf_status clfi_rehearsal_note(clf_context *context, const clf_kernel_spec *spec)
{
    clf_rehearsal *r = context->rehearsal;
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->specs[i].options, spec->options) == 0 && strcmp(r->specs[i].kernel, spec->kernel) == 0)
            return CLF_OK;
    CLF_TRY(clfi_grow(&r->specs, &r->capacity, r->count + 1, sizeof *r->specs, "kernels that are needed"));
    r->specs[r->count++] = *spec;
    return CLF_OK;
}

/* Leaves those that are not there at the front of `missing`. */
static clf_status find_missing(clf_context *context, const clf_rehearsal *r, const clf_kernel_spec **missing, size_t *out_count)
{
    *out_count = 0;
    for (size_t i = 0; i < r->count; i++) {
        bool found;
        CLF_TRY(clfi_program_find(context, &r->specs[i], &found));
        if (!found)
            missing[(*out_count)++] = &r->specs[i];
    }
    return CLF_OK;
}

static clf_status prepare_programs(clf_context *context, const clf_rehearsal *r)
{
    const clf_kernel_spec **missing;
    size_t count;
    CLF_TRY(clfi_alloc(r->count, sizeof *missing, "kernels that are needed", &missing));
    clf_status st = find_missing(context, r, missing, &count);
    context->builds_expected = context->stats.programs_built + count;
    if (st == CLF_OK && count > 1 && !context->device.caps.serial_compiler)
        st = clfi_programs_build(context, missing, count);
    free(missing);
    return st;
}

clf_status clfi_rehearse(clf_context *context, clf_status (*work)(void *user), void *user)
{
    clf_rehearsal rehearsal = {.count = 0};
    const clf_arena_mark mark = clfi_arena_top(context);
    context->rehearsal = &rehearsal;
    clf_status st = work(user);
    context->rehearsal = NULL;
    clfi_arena_release(context, mark);
    if (st == CLF_OK && rehearsal.count > 0)
        st = prepare_programs(context, &rehearsal);
    free(rehearsal.specs);
    return st;
}
