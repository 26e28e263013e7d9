/* SPDX-License-Identifier: MIT */
/* Runs passes of a decode batch. Before each pass the chooser (a sampler or a beam search) gives the input tokens; after it, the chooser
 * takes the logits. */
#include "model/decode_loop.h"

clf_status clfi_decode_step(clf_decode_batch *batch, const clf_decode_chooser *chooser, void *user, bool *out_done)
{
    clf_context *context = clfi_decode_context(batch);
    const clf_decode_input *inputs;
    size_t count;
    clf_view logits;
    CLF_TRY(chooser->give(user, &inputs, &count));
    *out_done = count == 0;
    if (count == 0)
        return CLF_OK;
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_status st = clfi_decode_run(batch, inputs, count, &logits);
    if (st == CLF_OK)
        st = chooser->take(user, inputs, count, &logits);
    clfi_arena_release(context, mark);
    return st;
}

clf_status clfi_decode_loop(clf_decode_batch *batch, const clf_decode_chooser *chooser, void *user)
{
    for (bool is_done = false; !is_done;)
        CLF_TRY(clfi_decode_step(batch, chooser, user, &is_done));
    return CLF_OK;
}
