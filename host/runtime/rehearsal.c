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
    const uint64_t hash = clfi_spec_hash(spec);
    size_t i = 0;
    while (i < r->count && !clfi_spec_is(spec, hash, r->kernels[i].spec.kernel, r->kernels[i].spec.options, r->kernels[i].hash))
        i++;
    if (i == r->count) {
        CLF_TRY(clfi_grow(&r->kernels, &r->capacity, r->count + 1, sizeof *r->kernels, "kernels that are needed"));
        r->kernels[r->count++] = (clf_rehearsed_kernel){.spec = *spec, .hash = hash, .item = r->item};
    }
    r->kernels[i].askers |= context->asker;
    *out_index = i;
    return CLF_OK;
}

void clfi_rehearsal_note_foreign(clf_context *context)
{
    clf_rehearsal *r = context->rehearsal;
    if (!r->has_foreign)
        r->foreign_item = r->item;
    r->has_foreign = true;
}

bool clfi_rehearsal_replace(clf_context *context, const clf_kernel_spec *spec)
{
    const clf_rehearsal *r = context->rehearsal;
    size_t i = 0;
    while (i < r->count && r->kernels[i].spec.parts != spec->parts)
        i++;
    if (i == r->count)
        return false;
    clf_kernel_spec *noted = &r->kernels[i].spec;
    const size_t local[3] = {noted->local[0], noted->local[1], noted->local[2]};
    *noted = *spec;
    memcpy(noted->local, local, sizeof local);
    r->kernels[i].hash = clfi_spec_hash(spec);
    return true;
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

/* Items to rehearse together. */
typedef struct rehearsed_items {
    clf_status (*work)(void *user, size_t item);
    void *user;
    size_t count;
    bool *is_first; /* [count]: the item is the first that asks for a kernel which was not launched yet; NULL: not wanted */
} rehearsed_items;

static clf_status rehearse_items(clf_context *context, const rehearsed_items *items)
{
    clf_rehearsal *r = context->rehearsal;
    const clf_arena_mark mark = clfi_arena_top(context);
    for (r->item = 0; r->item < items->count; r->item++) {
        const clf_status st = items->work(items->user, r->item);
        clfi_arena_release(context, mark);
        CLF_TRY(st);
    }
    return CLF_OK;
}

static void mark_first(const clf_context *context, const clf_rehearsal *r, const rehearsed_items *items)
{
    memset(items->is_first, 0, items->count * sizeof *items->is_first);
    for (size_t i = 0; i < r->count; i++)
        if (!clfi_kernel_was_launched(context, &r->kernels[i].spec))
            items->is_first[r->kernels[i].item] = true;
    if (r->has_foreign)
        items->is_first[r->foreign_item] = true;
}

/* *out_is_final false: an engine or a launch graph is left out from now on, so the items must be rehearsed again. */
static clf_status rehearse_once(clf_context *context, const rehearsed_items *items, bool *out_is_final)
{
    clf_rehearsal rehearsal = {.count = 0};
    const uint64_t unbuilt = context->unbuilt;
    const size_t unbuilt_graphs = context->unbuilt_graphs;
    context->rehearsal = &rehearsal;
    context->rehearsals++;
    clf_status st = rehearse_items(context, items);
    context->rehearsal = NULL;
    if (st == CLF_OK && items->is_first)
        mark_first(context, &rehearsal, items);
    if (st == CLF_OK && rehearsal.count > 0)
        st = prepare_programs(context, &rehearsal);
    free(rehearsal.kernels);
    *out_is_final = context->unbuilt == unbuilt && context->unbuilt_graphs == unbuilt_graphs;
    return st;
}

static clf_status rehearse(clf_context *context, const rehearsed_items *items)
{
    clf_status st;
    bool is_final;
    do
        st = rehearse_once(context, items, &is_final);
    while (st == CLF_OK && !is_final);
    return st;
}

/* The work of clfi_rehearse, as a single item. */
typedef struct single_work {
    clf_status (*work)(void *user);
    void *user;
} single_work;

static clf_status do_single(void *user, size_t item)
{
    const single_work *single = user;
    (void)item;
    return single->work(single->user);
}

clf_status clfi_rehearse(clf_context *context, clf_status (*work)(void *user), void *user)
{
    single_work single = {work, user};
    return rehearse(context, &(rehearsed_items){.work = do_single, .user = &single, .count = 1});
}

clf_status clfi_rehearse_all(clf_context *context, clf_status (*work)(void *user, size_t item), void *user, size_t count)
{
    rehearsed_items items = {.work = work, .user = user, .count = count};
    CLF_TRY(clfi_alloc(count, sizeof *items.is_first, "kernels that are needed", &items.is_first));
    clf_status st = rehearse(context, &items);
    for (size_t i = 0; st == CLF_OK && i < count; i++) {
        const clf_arena_mark mark = clfi_arena_top(context);
        if (items.is_first[i])
            st = work(user, i);
        clfi_arena_release(context, mark);
    }
    free(items.is_first);
    return st == CLF_OK ? clf_context_finish(context) : st;
}
