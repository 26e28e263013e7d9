/* SPDX-License-Identifier: MIT */
/* Implements clf_sequence, a caller's handle on a sequence of the session's decoding batch, and gives it tokens in passes of bounded
 * size. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/finite.h"
#include "model/generation.h"
#include "model/sampler.h"
#include "model/sequence.h"

static clf_status wrap(clf_session *session, int32_t number, clf_sequence **out)
{
    clf_sequence *made;
    const clf_status st = clfi_alloc(1, sizeof *made, "sequence", &made);
    if (st != CLF_OK) {
        if (clfi_decode_drop(session->decoding, number) != CLF_OK)
            return clfi_fail(CLF_INTERNAL, "sequence: unknown number %d", number);
        return st;
    }
    *made = (clf_sequence){.session = session, .number = number};
    *out = made;
    return CLF_OK;
}

clf_status clfi_sequence_reserve(clf_sequence *sequence, size_t count)
{
    return clfi_grow(&sequence->tokens, &sequence->capacity, count, sizeof *sequence->tokens, "tokens");
}

size_t clfi_sequence_shared(const clf_sequence *sequence, const int32_t *tokens, size_t count)
{
    const size_t have = clf_sequence_length(sequence); /* none after a loss of the device */
    size_t shared = 0;
    while (shared < count && shared < have && sequence->tokens[shared] == tokens[shared])
        shared++;
    return shared;
}

clf_status clf_sequence_create(clf_session *session, clf_sequence **out)
{
    int32_t number;
    if (!session || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "sequence create: session and out must not be NULL");
    clf_status st;
    do
        st = clfi_generation_ready(session);
    while (clfi_session_recover(session, &st));
    if (st == CLF_OK)
        st = clfi_decode_open(session->decoding, &number);
    return st == CLF_OK ? wrap(session, number, out) : st;
}

clf_status clf_sequence_fork(const clf_sequence *sequence, clf_sequence **out)
{
    clf_sequence *made;
    int32_t number;
    if (!sequence || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "sequence fork: sequence and out must not be NULL");
    CLF_TRY(clfi_decode_fork(sequence->session->decoding, sequence->number, &number));
    CLF_TRY(wrap(sequence->session, number, &made));
    const size_t count = clf_sequence_length(sequence);
    const clf_status st = clfi_sequence_reserve(made, count);
    if (st != CLF_OK) {
        clf_sequence_destroy(made);
        return st;
    }
    if (count)
        memcpy(made->tokens, sequence->tokens, count * sizeof *made->tokens);
    made->count = count;
    *out = made;
    return CLF_OK;
}

clf_status clf_sequence_keep(clf_sequence *sequence, size_t length)
{
    if (!sequence)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "sequence keep: sequence must not be NULL");
    const size_t have = clf_sequence_length(sequence);
    if (length > have)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "sequence keep: %zu tokens, it has %zu", length, have);
    CLF_TRY(clfi_decode_keep(sequence->session->decoding, sequence->number, (int32_t)length));
    sequence->count = length;
    return CLF_OK;
}

size_t clf_sequence_length(const clf_sequence *sequence)
{
    return sequence ? (size_t)clfi_decode_length(sequence->session->decoding, sequence->number) : 0;
}

void clf_sequence_destroy(clf_sequence *sequence)
{
    if (!sequence)
        return;
    const clf_status dropped = clfi_decode_drop(sequence->session->decoding, sequence->number);
    (void)dropped; /* cannot fail: the batch has the sequence */
    free(sequence->tokens);
    free(sequence);
}

clf_status clf_sequence_set_source(clf_sequence *sequence, const int32_t *tokens, size_t count)
{
    if (!sequence || !tokens)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "sequence source: sequence and tokens must not be NULL");
    if (count == 0 || count > INT32_MAX)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "sequence source: %zu tokens: expected one or more", count);
    CLF_TRY(clfi_session_refresh(sequence->session));
    return clfi_decode_sources(sequence->session->decoding, &(clf_decode_input){sequence->number, tokens, (int32_t)count}, 1);
}

/* The state of a call of clf_session_run_sequences. */
typedef struct giving {
    clf_session *session;
    const clf_sequence_tokens *inputs;
    size_t count, vocabulary;
    bool is_all;
    float *logits;
    size_t *given;           /* [count]: tokens of each input so far */
    int32_t *lengths;        /* [count]: of the sequences before the call */
    clf_decode_input *parts; /* [count]: of the current pass; places: which input each part belongs to */
    size_t *places;
} giving;

static clf_status check_inputs(const clf_session *session, const clf_sequence_tokens *inputs, size_t count, bool is_all)
{
    const clf_embedding_config *config = &session->model->network->config.target;
    uint64_t tokens = clfi_generation_held(session);
    for (size_t i = 0; i < count; i++) {
        const clf_sequence_tokens *input = &inputs[i];
        if (!input->sequence || !input->tokens || input->count == 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "sequences: input %zu has no %s", i, input->sequence ? "tokens" : "sequence");
        if (input->sequence->session != session)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "sequences: input %zu is of another session", i);
        if (clfi_decode_lacks_source(session->decoding, input->sequence->number))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "sequences: input %zu: its sequence has no source: this model reads one before the first token",
                     i);
        for (size_t j = 0; j < i; j++)
            if (inputs[j].sequence == input->sequence)
                CLF_FAIL(CLF_INVALID_ARGUMENT, "sequences: inputs %zu and %zu have the same sequence", j, i);
        const size_t have = clf_sequence_length(input->sequence);
        if (input->count > (size_t)config->max_positions - have)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "sequences: input %zu: %zu tokens after %zu, the model has %lld positions", i, input->count,
                     have, (long long)config->max_positions);
        for (size_t t = 0; t < input->count; t++)
            if (input->tokens[t] < 0 || input->tokens[t] >= config->vocabulary)
                CLF_FAIL(CLF_INVALID_ARGUMENT, "sequences: input %zu: token %d is outside 0..%lld", i, input->tokens[t],
                         (long long)config->vocabulary - 1);
        tokens += input->count;
    }
    const clf_status st = clfi_generation_fits(session, is_all ? CLFI_LOGIT_TOKENS : count, tokens);
    return st == CLF_OK ? st : clfi_fail_prefix(st, "sequences");
}

/* Lists the parts of the next pass, whole inputs or pieces of them, in their order. Returns their number. */
static size_t next_parts(const giving *g)
{
    size_t left = g->is_all ? CLFI_LOGIT_TOKENS : CLFI_PASS_TOKENS, made = 0;
    for (size_t i = 0; i < g->count && left > 0; i++) {
        const clf_sequence_tokens *input = &g->inputs[i];
        const size_t waiting = input->count - g->given[i], taken = waiting < left ? waiting : left;
        if (taken == 0)
            continue;
        g->places[made] = i;
        g->parts[made++] = (clf_decode_input){input->sequence->number, input->tokens + g->given[i], (int32_t)taken};
        left -= taken;
    }
    return made;
}

/* Reads the rows that the caller wants from the pass to their places in `logits`. */
static clf_status read_rows(const giving *g, size_t made, const clf_view *logits)
{
    size_t row = 0, before = 0, next = 0;
    for (size_t p = 0; p < made; p++) {
        const size_t i = g->places[p], taken = (size_t)g->parts[p].count, rows = g->is_all ? taken : 1;
        for (; next < i; next++)
            before += g->inputs[next].count;
        const size_t at = g->is_all ? before + g->given[i] : i;
        if (g->is_all || g->given[i] + taken == g->inputs[i].count) {
            float *out = g->logits + at * g->vocabulary;
            CLF_TRY(clfi_buffer_read(logits->buffer, ((size_t)logits->offset + row * g->vocabulary) * sizeof *out, out,
                                     rows * g->vocabulary * sizeof *out));
            for (size_t k = 0; k < rows; k++)
                if (clfi_check_finite("the logit of token", out + k * g->vocabulary, g->vocabulary) != CLF_OK)
                    return clfi_fail_prefix(CLF_FORMAT, "sequences: input %zu", i);
        }
        row += rows;
    }
    return CLF_OK;
}

/* Runs one pass. *out_made 0: all tokens are given. */
static clf_status pass(giving *g, size_t *out_made)
{
    clf_context *context = g->session->context;
    const size_t made = next_parts(g);
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view logits;
    clf_status st = CLF_OK;
    *out_made = made;
    if (made == 0)
        return CLF_OK;
    CLF_GOTO(g->is_all ? clfi_decode_run_all(g->session->decoding, g->parts, made, &logits)
                       : clfi_decode_run(g->session->decoding, g->parts, made, &logits));
    CLF_GOTO(read_rows(g, made, &logits));
    for (size_t p = 0; p < made; p++)
        g->given[g->places[p]] += (size_t)g->parts[p].count;
done:
    clfi_arena_release(context, mark);
    return st;
}

clf_status clf_session_run_sequences(clf_session *session, const clf_sequence_tokens *inputs, size_t count, int is_all, float *logits)
{
    size_t made = 1;
    clf_status st;
    if (!session || (count && (!inputs || !logits)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "sequences: session, inputs and logits must not be NULL");
    CLF_TRY(clfi_session_refresh(session));
    CLF_TRY(check_inputs(session, inputs, count, is_all != 0));
    giving g = {.session = session, .inputs = inputs, .count = count, .is_all = is_all != 0, .logits = logits};
    g.vocabulary = (size_t)session->model->network->config.target.vocabulary;
    CLF_GOTO(clfi_alloc(2 * count, sizeof *g.given, "sequences", &g.given));
    CLF_GOTO(clfi_alloc(count, sizeof *g.lengths, "sequences", &g.lengths));
    CLF_GOTO(clfi_alloc(count, sizeof *g.parts, "sequences", &g.parts));
    g.places = g.given + count;
    for (size_t i = 0; i < count; i++) {
        inputs[i].sequence->count = clf_sequence_length(inputs[i].sequence); /* none after a loss of the device */
        g.lengths[i] = (int32_t)inputs[i].sequence->count;
    }
    for (size_t i = 0; i < count; i++)
        CLF_GOTO(clfi_sequence_reserve(inputs[i].sequence, inputs[i].sequence->count + inputs[i].count));
    while (st == CLF_OK && made > 0)
        st = pass(&g, &made);
    for (size_t i = 0; st == CLF_OK && i < count; i++) {
        clf_sequence *sequence = inputs[i].sequence;
        memcpy(sequence->tokens + sequence->count, inputs[i].tokens, inputs[i].count * sizeof *sequence->tokens);
        sequence->count += inputs[i].count;
    }
    for (size_t i = 0; st != CLF_OK && i < count; i++) {
        const clf_status kept = clfi_decode_keep(session->decoding, inputs[i].sequence->number, g.lengths[i]);
        (void)kept; /* cannot fail: the sequence has at least as many tokens */
    }
done:
    free(g.given);
    free(g.lengths);
    free(g.parts);
    if (clfi_session_recover(session, &st))
        return CLF_DEVICE_LOST; /* the device is open again, but the sequences are empty */
    return st;
}

clf_status clf_model_choose_token(const clf_model *model, const clf_generate_params *params, float *logits, const int32_t *tokens,
                                  size_t count, size_t step, int32_t *out)
{
    clf_generate_params own;
    clf_sampler *sampler = NULL;
    if (!model || !logits || (count && !tokens) || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "choose token: model, logits, tokens and out must not be NULL");
    CLF_TRY(clfi_generate_params_check(NULL, 0, params, &own));
    const int64_t vocabulary = model->info.vocabulary;
    for (size_t i = 0; i < count; i++)
        if (tokens[i] < 0 || tokens[i] >= vocabulary)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "choose token: token %d is outside 0..%lld", tokens[i], (long long)vocabulary - 1);
    clfi_generation_settle_penalty(model, &own);
    CLF_TRY(clfi_sampler_check(&own));
    CLF_TRY(clfi_sampler_create((size_t)vocabulary, &sampler));
    const clf_text_state text = {tokens, count, step < count ? count - step : 0, step + 1 >= own.max_tokens};
    clfi_generation_config_constrain(&model->generation, &text, logits, (size_t)vocabulary);
    const size_t penalised = clfi_generation_config_window(&model->generation, count);
    const clf_status st = clfi_sampler_choose(sampler, &own, logits, count ? tokens + count - penalised : NULL, penalised, step, out);
    clfi_sampler_destroy(sampler);
    return st;
}

/* A list of the model's, or none. */
static const int32_t *give_list(const int32_t *list, size_t list_count, size_t *count)
{
    if (count)
        *count = list_count;
    return list_count ? list : NULL;
}

const int32_t *clf_model_end_tokens(const clf_model *model, size_t *count)
{
    return model ? give_list(model->generation.ends, model->generation.end_count, count) : give_list(NULL, 0, count);
}

const int32_t *clf_model_start_tokens(const clf_model *model, size_t *count)
{
    return model && model->network->config.decoder.has_source ? give_list(model->generation.start, model->generation.start_count, count)
                                                              : give_list(NULL, 0, count);
}
