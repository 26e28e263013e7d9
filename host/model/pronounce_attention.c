/* SPDX-License-Identifier: MIT */
/* Computes attention weights of the encoder-decoder for a word and its phonemes: one uncached pass up to the layer that is asked for. */
#include <string.h>

#include "base/alloc.h"
#include "model/packing.h"
#include "model/pronouncer.h"

/* The state of one pass. */
typedef struct attention_pass {
    clf_context *context;
    const clf_seq2seq *model;
    int32_t *letters, *phonemes; /* ids: of the word and its end; of the start and the phonemes */
    int32_t letter_count, phoneme_count;
    clf_packer packer;
    clf_attention_batch *source, *target, *cross;
    clf_decoder_memory memory;
} attention_pass;

static clf_status read_letters(const clf_pronouncer *pronouncer, const clf_text *word, attention_pass *pass)
{
    CLF_TRY(clf_pronouncer_check(pronouncer, word));
    CLF_TRY(clfi_alloc(word->size + 1, sizeof *pass->letters, "letters", &pass->letters));
    for (size_t i = 0; i < word->size; i++)
        pass->letters[i] = pronouncer->letter[(unsigned char)word->data[i]];
    pass->letters[word->size] = pass->model->eos;
    pass->letter_count = (int32_t)word->size + 1;
    return CLF_OK;
}

static clf_status find_phoneme(const clf_seq2seq *model, const char *text, size_t size, int32_t *out)
{
    for (int32_t id = 0; id < model->target_count; id++)
        if (strlen(model->target_tokens[id]) == size && memcmp(model->target_tokens[id], text, size) == 0) {
            *out = id;
            return CLF_OK;
        }
    CLF_FAIL(CLF_INVALID_ARGUMENT, "pronounce attention: the model has no phoneme \"%.*s\"", size < 40 ? (int)size : 40, text);
}

static clf_status read_phonemes(const char *text, attention_pass *pass)
{
    const clf_seq2seq *model = pass->model;
    const int64_t most = model->network->config.target.max_positions;
    CLF_TRY(clfi_alloc((size_t)most, sizeof *pass->phonemes, "phonemes", &pass->phonemes));
    pass->phonemes[pass->phoneme_count++] = model->bos;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        const size_t size = strcspn(text, " ");
        if (pass->phoneme_count == most)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "pronounce attention: more than %lld phonemes", (long long)most - 1);
        CLF_TRY(find_phoneme(model, text, size, &pass->phonemes[pass->phoneme_count++]));
        text += size;
    }
    return CLF_OK;
}

/* Embeds tokens: x [count,C], a temporary of the arena. */
static clf_status embed(attention_pass *pass, const clf_token_embedding *embedding, const int32_t *tokens, int32_t count, clf_view *x)
{
    const clf_network *network = pass->model->network;
    clf_token_batch batch;
    CLF_TRY(clfi_view_temporary(pass->context, CLF_F32, 2, (int64_t[]){count, network->config.encoder.width}, x));
    CLF_TRY(clfi_pack_even(&pass->packer, "pronounce attention", embedding->config, tokens, count, 1, count, &batch));
    return clfi_network_embed(pass->context, embedding, &batch.ids, &batch.positions, NULL, x);
}

static clf_status set_batches(attention_pass *pass)
{
    clf_context *context = pass->context;
    const int32_t letters[2] = {0, pass->letter_count}, phonemes[2] = {0, pass->phoneme_count};
    CLF_TRY(clfi_attention_batch_create(context, &pass->source));
    CLF_TRY(clfi_attention_batch_create(context, &pass->target));
    CLF_TRY(clfi_attention_batch_create(context, &pass->cross));
    CLF_TRY(clfi_attention_batch_set(pass->source, 1, letters, NULL));
    CLF_TRY(clfi_attention_batch_set(pass->target, 1, phonemes, NULL));
    return clfi_attention_batch_set(pass->cross, 1, phonemes, letters);
}

static clf_status run(attention_pass *pass, clf_pronounce_attention kind, int64_t layer, const clf_view *weights)
{
    clf_context *context = pass->context;
    const clf_network *network = pass->model->network;
    clf_view source, target;
    CLF_TRY(embed(pass, &network->source, pass->letters, pass->letter_count, &source));
    if (kind == CLF_PRONOUNCE_ATTENTION_ENCODER)
        return clfi_encoder_weights(context, &network->encoder, pass->source, NULL, layer, &source, weights);
    CLF_TRY(clfi_encoder_forward(context, &network->encoder, pass->source, NULL, &source));
    CLF_TRY(clfi_decoder_memory_reserve(context, &network->decoder, pass->letter_count, &pass->memory));
    CLF_TRY(clfi_decoder_memory_project(context, &network->decoder, &source, &pass->memory));
    CLF_TRY(embed(pass, &network->target, pass->phonemes, pass->phoneme_count, &target));
    return clfi_decoder_weights(context, &network->decoder, &pass->memory, pass->target, pass->cross, NULL, layer,
                                kind == CLF_PRONOUNCE_ATTENTION_CROSS, &target, weights);
}

clf_status clfi_pronouncer_attention_once(clf_pronouncer *pronouncer, const clf_text *word, const char *phonemes,
                                          clf_pronounce_attention kind, int64_t layer, clf_tensor **out)
{
    clf_tensor *weights = NULL;
    clf_status st;
    clf_context *context = pronouncer->context;
    CLF_TRY(clfi_seq2seq_refresh(context, pronouncer->model));
    attention_pass pass = {.context = context, .model = pronouncer->model, .packer = clfi_packer(context)};
    const clf_arena_mark mark = clfi_arena_top(context);
    CLF_GOTO(read_letters(pronouncer, word, &pass));
    CLF_GOTO(read_phonemes(phonemes, &pass));
    CLF_GOTO(set_batches(&pass));
    const int64_t queries = kind == CLF_PRONOUNCE_ATTENTION_ENCODER ? pass.letter_count : pass.phoneme_count;
    const int64_t keys = kind == CLF_PRONOUNCE_ATTENTION_DECODER ? pass.phoneme_count : pass.letter_count;
    CLF_GOTO(
        clf_tensor_create(context, CLF_F32, 3, (int64_t[]){pass.model->network->config.encoder.attention.heads, queries, keys}, &weights));
    CLF_GOTO(run(&pass, kind, layer, clfi_tensor_view(weights)));
    CLF_GOTO(clf_context_finish(context));
    *out = weights;
    weights = NULL;
done:
    clfi_context_drain(context); /* before the memory that kernels use is freed */
    clfi_arena_release(context, mark);
    clf_tensor_destroy(weights);
    clfi_decoder_memory_release(&pass.memory);
    clfi_packer_clear(&pass.packer);
    clfi_attention_batch_destroy(pass.source);
    clfi_attention_batch_destroy(pass.target);
    clfi_attention_batch_destroy(pass.cross);
    free(pass.letters);
    free(pass.phonemes);
    return st;
}

clf_status clf_pronouncer_attention(clf_pronouncer *pronouncer, const clf_text *word, const char *phonemes, clf_pronounce_attention kind,
                                    int64_t layer, clf_tensor **out)
{
    clf_status st;
    if (!pronouncer || !word || !phonemes || !out || (unsigned)kind > CLF_PRONOUNCE_ATTENTION_ENCODER)
        CLF_FAIL(CLF_INVALID_ARGUMENT,
                 "pronounce attention: pronouncer, word, phonemes and out must not be NULL, kind one of the enumerators");
    do
        st = clfi_pronouncer_attention_once(pronouncer, word, phonemes, kind, layer, out);
    while (clfi_context_recover(pronouncer->context, &st));
    return st;
}
