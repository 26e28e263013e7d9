/* SPDX-License-Identifier: MIT */
/* Encoding of sources, some thousand tokens at a time. */
#include "model/decode_sources.h"

#include <string.h>

#include "base/alloc.h"

/* Tokens that the encoder takes at once: on CPUs the activations of some thousand leave the caches. */
enum { CPU_PART_TOKENS = 1024, GPU_PART_TOKENS = 16384 };

void clfi_decode_sources_clear(clf_decode_sources *sources)
{
    clfi_packer_clear(&sources->packer);
    clfi_decoder_memory_release(&sources->memory);
    free(sources->offsets);
    *sources = (clf_decode_sources){.offsets = NULL};
}

static clf_status check(const clf_network *network, const int32_t *offsets, size_t count, int32_t *out_longest)
{
    const int64_t positions = network->config.source.max_positions;
    *out_longest = 0;
    if (count >= INT32_MAX || offsets[0] != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: %zu sources, the first at %d", count, offsets[0]);
    for (size_t s = 0; s < count; s++) {
        const int32_t length = offsets[s + 1] - offsets[s];
        if (length < 0 || length > positions)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "source %zu: %d tokens, the model has %lld positions", s, length, (long long)positions);
        *out_longest = length > *out_longest ? length : *out_longest;
    }
    return CLF_OK;
}

/* Encodes sources first .. first + count and projects them into the memory's rows from offsets[first] on. */
static clf_status encode_part(clf_context *context, const clf_network *network, const int32_t *ids, const int32_t *offsets, size_t first,
                              size_t count, clf_decode_sources *sources)
{
    const int32_t begin = offsets[first];
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_token_batch batch;
    clf_view x;
    clf_status st;
    CLF_GOTO(clfi_pack_sequences(&sources->packer, "source", &network->config.source, ids, NULL, offsets + first, count, &batch));
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){batch.tokens, network->config.encoder.width}, &x));
    CLF_GOTO(clfi_network_embed(context, &network->source, &batch.ids, &batch.positions, NULL, &x));
    CLF_GOTO(clfi_encoder_forward(context, &network->encoder, batch.attention, &batch.positions, &x));
    CLF_GOTO(clfi_decoder_memory_project(context, &network->decoder, &x, begin, &sources->memory));
done:
    clfi_arena_release(context, mark);
    return st;
}

clf_status clfi_decode_sources_set(clf_context *context, const clf_network *network, const int32_t *ids, const int32_t *offsets,
                                   size_t count, clf_decode_sources *sources)
{
    const int32_t limit = context->device.caps.is_cpu ? CPU_PART_TOKENS : GPU_PART_TOKENS;
    int32_t longest;
    sources->count = 0;
    sources->packer.context = context;
    CLF_TRY(check(network, offsets, count, &longest));
    CLF_TRY(clfi_grow(&sources->offsets, &sources->capacity, count + 1, sizeof *sources->offsets, "sources"));
    CLF_TRY(clfi_decoder_memory_reserve(context, &network->decoder, offsets[count], &sources->memory));
    for (size_t first = 0, part; first < count; first += part) {
        for (part = 1; first + part < count && offsets[first + part + 1] - offsets[first] <= limit; part++)
            ;
        CLF_TRY(encode_part(context, network, ids, offsets, first, part, sources));
    }
    memcpy(sources->offsets, offsets, (count + 1) * sizeof *offsets);
    sources->count = (int32_t)count;
    sources->longest = longest;
    return CLF_OK;
}
