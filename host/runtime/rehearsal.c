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
        if (r->specs[i].hash == spec->hash && strcmp(r->specs[i].options, spec->options) == 0 &&
            strcmp(r->specs[i].kernel, spec->kernel) == 0)
            return CLF_OK;
    CLF_TRY(clfi_grow(&r->specs, &r->capacity, r->count + 1, sizeof *r->specs, "kernels that are needed"));
    r->specs[r->count++] = *spec;
    return CLF_OK;
}

clf_status clfi_rehearse(clf_context *context, clf_status (*work)(void *user), void *user)
{
    clf_rehearsal rehearsal = {.count = 0};
    const clf_arena_mark mark = clfi_arena_top(context);
    uint64_t missing = 0;
    context->rehearsal = &rehearsal;
    clf_status st = work(user);
    context->rehearsal = NULL;
    clfi_arena_release(context, mark);
    for (size_t i = 0; st == CLF_OK && i < rehearsal.count; i++) {
        bool found;
        st = clfi_program_find(context, &rehearsal.specs[i], &found);
        missing += !found;
    }
    context->builds_expected = context->stats.programs_built + missing;
    free(rehearsal.specs);
    return st;
}
