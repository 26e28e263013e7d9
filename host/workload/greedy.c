/* SPDX-License-Identifier: MIT */
/* Decodes greedily, for workloads. */
#include "workload/greedy.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/generation.h"
#include "model/sampler.h"
#include "runtime/arena.h"

clf_status clfi_greedy_create(clf_decode_batch *decoding, size_t vocabulary, size_t count, size_t prompt, size_t longest, clfi_greedy *out)
{
    clfi_greedy made = {.decoding = decoding, .vocabulary = vocabulary};
    const size_t part = prompt < CLFI_PASS_TOKENS ? prompt : CLFI_PASS_TOKENS;
    clf_status st;
    CLF_GOTO(clfi_alloc(count, sizeof *made.inputs, "decoding", &made.inputs));
    CLF_GOTO(clfi_alloc(count, sizeof *made.next, "decoding", &made.next));
    CLF_GOTO(clfi_alloc(count * vocabulary, sizeof *made.logits, "logits", &made.logits));
    CLF_GOTO(clfi_decode_reserve(decoding, (int64_t)(count * longest), part > count ? part : count, longest));
    for (; made.count < count; made.count++)
        CLF_GOTO(clfi_decode_open(decoding, &made.inputs[made.count].sequence));
    *out = made;
    return CLF_OK;
done:
    clfi_greedy_free(&made);
    return st;
}

void clfi_greedy_free(clfi_greedy *greedy)
{
    for (size_t i = 0; i < greedy->count; i++)
        if (clfi_decode_drop(greedy->decoding, greedy->inputs[i].sequence) != CLF_OK)
            break; /* cannot happen: the sequences are open */
    free(greedy->inputs);
    free(greedy->next);
    free(greedy->logits);
    *greedy = (clfi_greedy){0};
}

/* Runs one pass and reads the logits after each of its sequences. */
static clf_status pass(const clfi_greedy *greedy, const clf_decode_input *inputs, size_t count, float *logits)
{
    clf_context *context = clfi_decode_context(greedy->decoding);
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view view;
    clf_status st = clfi_decode_run(greedy->decoding, inputs, count, &view);
    if (st == CLF_OK)
        st = clfi_buffer_read(view.buffer, (size_t)view.offset * sizeof *logits, logits, count * greedy->vocabulary * sizeof *logits);
    clfi_arena_release(context, mark);
    return st;
}

static void choose(clfi_greedy *greedy, size_t index)
{
    greedy->next[index] = (int32_t)clfi_find_largest(greedy->logits + index * greedy->vocabulary, greedy->vocabulary);
}

clf_status clfi_greedy_sources(clfi_greedy *greedy, const int32_t *ids, size_t tokens)
{
    for (size_t i = 0; i < greedy->count; i++)
        greedy->inputs[i] = (clf_decode_input){greedy->inputs[i].sequence, ids ? ids + i * tokens : NULL, (int32_t)tokens};
    return tokens ? clfi_decode_sources(greedy->decoding, greedy->inputs, greedy->count) : CLF_OK;
}

clf_status clfi_greedy_prompt(clfi_greedy *greedy, size_t index, const int32_t *ids, size_t count)
{
    for (size_t first = 0; first < count; first += CLFI_PASS_TOKENS) {
        const size_t left = count - first, part = left < CLFI_PASS_TOKENS ? left : CLFI_PASS_TOKENS;
        const clf_decode_input input = {greedy->inputs[index].sequence, ids + first, (int32_t)part};
        CLF_TRY(pass(greedy, &input, 1, greedy->logits + index * greedy->vocabulary));
    }
    choose(greedy, index);
    return CLF_OK;
}

clf_status clfi_greedy_step(clfi_greedy *greedy)
{
    for (size_t i = 0; i < greedy->count; i++)
        greedy->inputs[i] = (clf_decode_input){greedy->inputs[i].sequence, &greedy->next[i], 1};
    CLF_TRY(pass(greedy, greedy->inputs, greedy->count, greedy->logits));
    for (size_t i = 0; i < greedy->count; i++)
        choose(greedy, i);
    return CLF_OK;
}

clf_status clfi_greedy_keep(clfi_greedy *greedy, size_t length)
{
    for (size_t i = 0; i < greedy->count; i++)
        CLF_TRY(clfi_decode_keep(greedy->decoding, greedy->inputs[i].sequence, (int32_t)length));
    return CLF_OK;
}
