/* SPDX-License-Identifier: MIT */
/* Beam search: the device scores every extension of every hypothesis, the host keeps the best of each source. */
#include "model/beam_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/decode_loop.h"
#include "model/decode_rehearsal.h"
#include "model/finite.h"
#include "model/packing.h"
#include "model/sampler.h"
#include "op/log_softmax.h"
#include "op/top_k.h"

/* A token of a hypothesis and the one before it; hypotheses share their beginnings. */
typedef struct token_node {
    int32_t token, parent; /* parent -1: the first after `begin` */
} token_node;

typedef struct open_hypothesis {
    int32_t sequence, node;
    int32_t token; /* newest, not decoded yet */
    float score;
} open_hypothesis;

typedef struct finished_hypothesis {
    int32_t node;
    float score;
} finished_hypothesis;

typedef struct beam_source {
    int32_t open, finished; /* how many it has; open 0: it is done */
} beam_source;

struct clf_beam_search {
    const clf_network *network; /* borrowed */
    clf_decode_batch *decoding;
    uint32_t opening;  /* context->openings when its memory was made */
    bool is_rehearsed; /* the kernels of its passes are known */
    clf_beam_rules rules;
    int32_t width, longest; /* longest: tokens of a result */
    clf_beam_stats stats;
    /* the sources that are being searched */
    size_t source_count;
    beam_source *sources;          /* [source_count] */
    open_hypothesis *open, *next;  /* [source_count][width], best first; next: [width], of one source */
    finished_hypothesis *finished; /* [source_count][width], best first */
    clf_decode_input *inputs;      /* [source_count * width] */
    size_t capacity;               /* sources in these arrays */
    token_node *nodes;
    size_t node_count, node_capacity;
    int32_t *tail; /* [begin_count + longest]: one result after what it starts with */
    float *rows;   /* [hypotheses][V]: with rules.config, log-probabilities on the host */
    bool *is_seen; /* [V]: scratch memory of clfi_penalise_repeated, all false between calls */
    size_t rows_capacity;
    clf_packer scores; /* f32 bits of the hypotheses' scores */
    float *values;     /* [hypotheses][k]: the best extensions of each */
    int32_t *tokens;
    size_t value_capacity, token_capacity;
    clf_hypothesis_sink sink;
    void *user;
};

clf_status clfi_beam_search_create(clf_context *context, const clf_network *network, const clf_beam_rules *rules, clf_dtype cache,
                                   clf_beam_search **out)
{
    clf_beam_search *search;
    clf_status st;
    const int64_t room = network->config.target.max_positions - (int64_t)rules->begin_count;
    const int32_t width = rules->width;
    if (width < 1 || width > CLFI_BEAM_MOST)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "beam search: width %d, expected 1 to %d", width, CLFI_BEAM_MOST);
    if (rules->begin_count < 1 || room < 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "beam search: %zu tokens to begin with, expected 1 to %lld", rules->begin_count,
                 (long long)network->config.target.max_positions - 1);
    if (!network->decoder.config.has_source)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "beam search: expected a network with an encoder and a decoder");
    CLF_TRY(clfi_alloc(1, sizeof *search, "beam search", &search));
    search->network = network;
    search->rules = *rules;
    search->width = width;
    search->longest = (int32_t)(rules->longest && (int64_t)rules->longest < room ? (int64_t)rules->longest : room);
    search->scores = clfi_packer(context);
    search->opening = context->openings;
    CLF_GOTO(clfi_decode_create(context, network, cache, &search->decoding));
    CLF_GOTO(clfi_alloc((size_t)network->config.target.vocabulary, sizeof *search->is_seen, "beam search", &search->is_seen));
    CLF_GOTO(clfi_alloc((size_t)width, sizeof *search->next, "beam search", &search->next));
    CLF_GOTO(clfi_alloc(rules->begin_count + (size_t)search->longest, sizeof *search->tail, "beam search", &search->tail));
    *out = search;
    return CLF_OK;
done:
    clfi_beam_search_destroy(search);
    return st;
}

static void clear_sized(clf_beam_search *search)
{
    free(search->sources);
    free(search->open);
    free(search->finished);
    free(search->inputs);
    search->sources = NULL;
    search->open = NULL;
    search->finished = NULL;
    search->inputs = NULL;
    search->capacity = 0;
}

void clfi_beam_search_destroy(clf_beam_search *search)
{
    if (!search)
        return;
    clfi_decode_destroy(search->decoding);
    clfi_packer_clear(&search->scores);
    clear_sized(search);
    free(search->next);
    free(search->nodes);
    free(search->tail);
    free(search->is_seen);
    free(search->rows);
    free(search->values);
    free(search->tokens);
    free(search);
}

clf_beam_stats clfi_beam_search_stats(const clf_beam_search *search)
{
    return search->stats;
}

/* Reserves memory for `sources` sources, and cache rows for as many tokens of each hypothesis as are typical. */
static clf_status reserve(clf_beam_search *search, size_t sources)
{
    enum { TYPICAL = 12 };
    size_t hypotheses;
    if (sources <= search->capacity)
        return CLF_OK;
    clear_sized(search);
    if (!clfi_mul_size(sources, (size_t)search->width, &hypotheses) || hypotheses > INT32_MAX / TYPICAL)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "E_OVERFLOW: beam search over %zu sources", sources);
    const size_t typical = search->longest < TYPICAL ? (size_t)search->longest : TYPICAL;
    CLF_TRY(clfi_alloc(sources, sizeof *search->sources, "beam search", &search->sources));
    CLF_TRY(clfi_alloc(hypotheses, sizeof *search->open, "beam search", &search->open));
    CLF_TRY(clfi_alloc(hypotheses, sizeof *search->finished, "beam search", &search->finished));
    CLF_TRY(clfi_alloc(hypotheses, sizeof *search->inputs, "beam search", &search->inputs));
    CLF_TRY(clfi_decode_reserve(search->decoding, (int64_t)(hypotheses * typical), hypotheses, typical));
    search->capacity = sources;
    return CLF_OK;
}

/* Opens one hypothesis for every source; the first pass gives it `begin`. */
static clf_status begin(clf_beam_search *search, size_t sources)
{
    CLF_TRY(reserve(search, sources));
    search->source_count = sources;
    search->node_count = 0;
    for (size_t s = 0; s < sources; s++) {
        open_hypothesis *first = &search->open[s * (size_t)search->width];
        *first = (open_hypothesis){.node = -1};
        search->sources[s] = (beam_source){.open = 1};
        CLF_TRY(clfi_decode_open_on(search->decoding, (int32_t)s, &first->sequence));
    }
    return CLF_OK;
}

/* A clf_decode_chooser's give: the newest token of every open hypothesis. The scores go to the device too. */
static clf_status give(void *user, const clf_decode_input **out_inputs, size_t *out_count)
{
    clf_beam_search *search = user;
    const size_t width = (size_t)search->width;
    size_t count = 0;
    int32_t *scores;
    for (size_t s = 0; s < search->source_count; s++)
        count += (size_t)search->sources[s].open;
    *out_inputs = search->inputs;
    *out_count = count;
    if (count == 0)
        return CLF_OK;
    CLF_TRY(clfi_packer_host(&search->scores, count, &scores));
    count = 0;
    for (size_t s = 0; s < search->source_count; s++)
        for (size_t i = 0; i < (size_t)search->sources[s].open; i++, count++) {
            const open_hypothesis *h = &search->open[s * width + i];
            const float score = search->rules.config ? 0 : h->score; /* added on the host, after the rules */
            search->inputs[count] = h->node < 0 ? (clf_decode_input){h->sequence, search->rules.begin, (int32_t)search->rules.begin_count}
                                                : (clf_decode_input){h->sequence, &h->token, 1};
            memcpy(&scores[count], &score, sizeof score);
        }
    return clfi_packer_send(&search->scores, count);
}

/* Replaces the logits by log p of every extension, with the scores of `give` added. */
static clf_status log_probabilities(const clf_beam_search *search, const clf_view *logits)
{
    const clf_view scores = clfi_view_dense(search->scores.buffer, CLF_F32, 0, 1, &logits->dim[0]);
    return clfi_log_softmax(clfi_decode_context(search->decoding), logits, &scores, logits);
}

/* The k best extensions of each hypothesis, in falling order of their scores: values and tokens. */
static clf_status score_extensions(clf_beam_search *search, const clf_view *logits, int32_t k)
{
    clf_context *context = clfi_decode_context(search->decoding);
    const int64_t dim[2] = {logits->dim[0], k};
    const size_t count = (size_t)logits->dim[0] * (size_t)k;
    clf_view values, indices;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, dim, &values));
    CLF_TRY(clfi_view_temporary(context, CLF_I32, 2, dim, &indices));
    CLF_TRY(log_probabilities(search, logits));
    CLF_TRY(clfi_top_k(context, logits, k, &values, &indices));
    CLF_TRY(clfi_buffer_read(values.buffer, (size_t)values.offset * sizeof(float), search->values, count * sizeof(float)));
    return clfi_buffer_read(indices.buffer, (size_t)indices.offset * sizeof(int32_t), search->tokens, count * sizeof(int32_t));
}

/* The tokens of a hypothesis, those that targets start with first, at the end of search->tail. */
static clf_text_state text_of(const clf_beam_search *search, int32_t node)
{
    const clf_beam_rules *rules = &search->rules;
    const size_t all = rules->begin_count + (size_t)search->longest;
    size_t at = all;
    for (; node >= 0; node = search->nodes[node].parent)
        search->tail[--at] = search->nodes[node].token;
    at -= rules->begin_count;
    memcpy(search->tail + at, rules->begin, rules->begin_count * sizeof *rules->begin);
    const size_t count = all - at;
    return (clf_text_state){search->tail + at, count, rules->begin_count, count - rules->begin_count + 1 == (size_t)search->longest};
}

/* Finds the k best of a row, the lower token first of equal ones. Forbidden tokens come after all others. */
static clf_status choose_best(const float *row, size_t vocabulary, float score, int32_t k, float *values, int32_t *tokens)
{
    int32_t count = 0;
    CLF_TRY(clfi_check_finite("beam search: the log-probability of token", row, vocabulary));
    for (size_t v = 0; v < vocabulary; v++) {
        const float value = row[v] + score;
        if (count == k && !(value > values[k - 1]))
            continue;
        int32_t i = count < k ? count++ : k - 1;
        for (; i > 0 && value > values[i - 1]; i--) {
            values[i] = values[i - 1];
            tokens[i] = tokens[i - 1];
        }
        values[i] = value;
        tokens[i] = (int32_t)v;
    }
    return CLF_OK;
}

/* Makes the probabilities, whose logarithms the row holds, sum to 1 again. */
static void renormalise(float *row, size_t vocabulary)
{
    const double largest = (double)row[clfi_find_largest(row, vocabulary)];
    double sum = 0;
    for (size_t i = 0; i < vocabulary; i++)
        sum += exp((double)row[i] - largest);
    for (size_t i = 0; i < vocabulary; i++)
        row[i] = (float)((double)row[i] - largest - log(sum));
}

/* Does the work of score_extensions on the host, for models whose files say which tokens may come next. */
static clf_status score_by_rules(clf_beam_search *search, const clf_view *logits, int32_t k)
{
    const size_t vocabulary = (size_t)logits->dim[1], count = (size_t)logits->dim[0] * vocabulary;
    size_t row = 0;
    CLF_TRY(clfi_grow(&search->rows, &search->rows_capacity, count, sizeof *search->rows, "beam search"));
    CLF_TRY(log_probabilities(search, logits));
    CLF_TRY(clfi_buffer_read(logits->buffer, (size_t)logits->offset * sizeof(float), search->rows, count * sizeof(float)));
    for (size_t s = 0; s < search->source_count; s++)
        for (int32_t i = 0; i < search->sources[s].open; i++, row++) {
            const open_hypothesis *h = &search->open[s * (size_t)search->width + (size_t)i];
            const clf_text_state text = text_of(search, h->node);
            float *own = search->rows + row * vocabulary;
            clfi_penalise_repeated(search->rules.repeat_penalty, text.tokens, text.count, own, search->is_seen);
            clfi_generation_config_constrain(search->rules.config, &text, own, vocabulary);
            if (search->rules.config->is_renormalised)
                renormalise(own, vocabulary);
            CLF_TRY(choose_best(own, vocabulary, h->score, k, search->values + row * (size_t)k, search->tokens + row * (size_t)k));
        }
    return CLF_OK;
}

/* How many extensions of a source are considered. If extensions that end take no place from the others, the number grows by those that may
 * end. */
static int32_t candidates(const clf_beam_search *search)
{
    const size_t ends = search->rules.end_count > 1 ? search->rules.end_count : 1;
    const size_t most = search->rules.is_refilled ? (1 + ends) * (size_t)search->width : (size_t)search->width;
    return most < INT32_MAX ? (int32_t)most : INT32_MAX;
}

/* How many extensions of a hypothesis are considered; makes memory for those of all hypotheses. */
static clf_status extensions(clf_beam_search *search, const clf_view *logits, int32_t *out)
{
    const int32_t most = candidates(search);
    size_t count;
    *out = logits->dim[1] < most ? (int32_t)logits->dim[1] : most;
    if (!clfi_mul_size((size_t)logits->dim[0], (size_t)*out, &count))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "E_OVERFLOW: beam search over %lld hypotheses", (long long)logits->dim[0]);
    CLF_TRY(clfi_grow(&search->values, &search->value_capacity, count, sizeof *search->values, "beam search"));
    return clfi_grow(&search->tokens, &search->token_capacity, count, sizeof *search->tokens, "beam search");
}

/* A clf_decode_plan's score. */
static clf_status rehearse_scores(void *user, const clf_view *logits)
{
    clf_beam_search *search = user;
    const size_t count = (size_t)logits->dim[0];
    int32_t *scores, k;
    CLF_TRY(clfi_packer_host(&search->scores, count, &scores));
    memset(scores, 0, count * sizeof *scores);
    CLF_TRY(clfi_packer_send(&search->scores, count));
    CLF_TRY(extensions(search, logits, &k));
    return search->rules.config ? log_probabilities(search, logits) : score_extensions(search, logits, k);
}

/* Makes the memory again that was lost with the device. */
static clf_status refresh(clf_beam_search *search)
{
    clf_context *context = clfi_decode_context(search->decoding);
    if (search->opening == context->openings)
        return CLF_OK;
    clfi_packer_clear(&search->scores);
    search->scores = clfi_packer(context);
    search->is_rehearsed = false;
    CLF_TRY(clfi_decode_restart(search->decoding));
    search->opening = context->openings;
    return CLF_OK;
}

/* The plan: every source gets `begin`, and then each of its `width` hypotheses one token. */
clf_status clfi_beam_search_rehearse(clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t count)
{
    clf_decode_input *sources = NULL, *inputs = NULL;
    clf_status st;
    CLF_TRY(refresh(search));
    if (search->is_rehearsed)
        return CLF_OK;
    CLF_GOTO(clfi_alloc(count, sizeof *sources, "sources", &sources));
    CLF_GOTO(clfi_alloc(count, sizeof *inputs, "sources", &inputs));
    for (size_t s = 0; s < count; s++) {
        sources[s] = (clf_decode_input){-1, ids + offsets[s], offsets[s + 1] - offsets[s]};
        inputs[s] = (clf_decode_input){-1, search->rules.begin, (int32_t)search->rules.begin_count};
    }
    const clf_decode_plan plan = {
        .sources = sources, .inputs = inputs, .count = count, .following = search->width, .score = rehearse_scores, .user = search};
    CLF_GOTO(clfi_decode_rehearse(search->decoding, &plan, &search->is_rehearsed));
done:
    free(sources);
    free(inputs);
    return st;
}

static bool is_end(const clf_beam_search *search, int32_t token)
{
    for (size_t i = 0; i < search->rules.end_count; i++)
        if (search->rules.ends[i] == token)
            return true;
    return false;
}

/* The score by which finished hypotheses are compared. count: tokens of the result. */
static float normalised(const clf_beam_search *search, float score, int32_t count)
{
    const double length = (double)count + (double)search->rules.begin_count - 1;
    return (float)((double)score / pow(length, (double)search->rules.length_penalty));
}

/* Adds a hypothesis to the finished ones of its source, if it is good enough. */
static void finish(const clf_beam_search *search, size_t source, int32_t node, float score)
{
    beam_source *from = &search->sources[source];
    finished_hypothesis *best = &search->finished[source * (size_t)search->width];
    if (from->finished == search->width && !(score > best[search->width - 1].score))
        return;
    int32_t i = from->finished < search->width ? from->finished++ : search->width - 1;
    for (; i > 0 && best[i - 1].score < score; i--)
        best[i] = best[i - 1];
    best[i] = (finished_hypothesis){node, score};
}

/* Takes the best extensions of a source's hypotheses, whose values begin at row `row`, to results of `length` tokens. Extensions
 * that end become finished hypotheses, the others become search->next. If scores are equal, the better hypothesis comes first, then the
 * lower token. */
static clf_status extend(clf_beam_search *search, size_t source, size_t row, int32_t k, int32_t length, int32_t *out_next, int32_t *parents)
{
    const int32_t most = candidates(search);
    const bool is_last = search->rules.is_refilled && length == search->longest;
    const open_hypothesis *open = &search->open[source * (size_t)search->width];
    const int32_t count = search->sources[source].open;
    int32_t taken[CLFI_BEAM_MOST] = {0}; /* of each hypothesis's extensions */
    const float least = search->rules.config ? CLFI_IMPOSSIBLE / 2 : -INFINITY;
    *out_next = 0;
    for (int32_t n = 0; n < most && *out_next < search->width; n++) {
        int32_t best = -1;
        float score = least;
        for (int32_t i = 0; i < count; i++) {
            const float value = taken[i] < k ? search->values[(row + (size_t)i) * (size_t)k + (size_t)taken[i]] : least;
            if (value > score) {
                best = i;
                score = value;
            }
        }
        if (best < 0) /* no more extensions, or only forbidden ones */
            return CLF_OK;
        const int32_t token = search->tokens[(row + (size_t)best) * (size_t)k + (size_t)taken[best]++];
        CLF_TRY(clfi_grow(&search->nodes, &search->node_capacity, search->node_count + 1, sizeof *search->nodes, "beam search"));
        const int32_t node = (int32_t)search->node_count++;
        search->nodes[node] = (token_node){token, open[best].node};
        if (is_end(search, token) || is_last) {
            if (n < search->width)
                finish(search, source, node, normalised(search, score, length));
        } else {
            parents[*out_next] = best;
            search->next[(*out_next)++] = (open_hypothesis){.node = node, .token = token, .score = score};
        }
    }
    return CLF_OK;
}

/* Replaces a source's hypotheses by those of search->next. The first one that extends a hypothesis goes on in its sequence, others fork it,
 * and sequences that none extends are dropped. */
static clf_status replace(clf_beam_search *search, size_t source, int32_t count, const int32_t *parents)
{
    open_hypothesis *open = &search->open[source * (size_t)search->width];
    bool is_used[CLFI_BEAM_MOST] = {false};
    for (int32_t i = 0; i < count; i++) {
        const int32_t parent = parents[i];
        search->next[i].sequence = open[parent].sequence;
        if (is_used[parent])
            CLF_TRY(clfi_decode_fork(search->decoding, open[parent].sequence, &search->next[i].sequence));
        is_used[parent] = true;
    }
    for (int32_t i = 0; i < search->sources[source].open; i++)
        if (!is_used[i])
            CLF_TRY(clfi_decode_drop(search->decoding, open[i].sequence));
    memcpy(open, search->next, (size_t)count * sizeof *open);
    search->sources[source].open = count;
    return CLF_OK;
}

static clf_status hand_on(clf_beam_search *search, size_t source, size_t rank, int32_t node, float score, bool has_ended)
{
    const clf_text_state text = text_of(search, node);
    const clf_hypothesis hypothesis = {text.tokens + text.start, text.count - text.start, score, has_ended};
    return search->sink(search->user, source, rank, &hypothesis);
}

/* Hands on the results of a finished source. next: its `count` open hypotheses. */
static clf_status hand_on_all(clf_beam_search *search, size_t source, int32_t count)
{
    const finished_hypothesis *finished = &search->finished[source * (size_t)search->width];
    const int32_t found = search->sources[source].finished;
    for (int32_t i = 0; i < found; i++)
        CLF_TRY(
            hand_on(search, source, (size_t)i, finished[i].node, finished[i].score, is_end(search, search->nodes[finished[i].node].token)));
    return found == 0 && count > 0 ? hand_on(search, source, 0, search->next[0].node, search->next[0].score, false) : CLF_OK;
}

/* Whether a source with open hypotheses, the best of them search->next[0] with `length` tokens, is done by rules.stop. */
static bool is_done(const clf_beam_search *search, size_t source, int32_t length)
{
    const int32_t width = search->width;
    const finished_hypothesis *finished = &search->finished[source * (size_t)width];
    const bool looks_on = search->rules.stop == CLF_BEAM_STOP_NEVER && search->rules.length_penalty > 0;
    if (search->sources[source].finished < width)
        return false;
    return search->rules.stop == CLF_BEAM_STOP_FULL ||
           normalised(search, search->next[0].score, looks_on ? search->longest : length) <= finished[width - 1].score;
}

/* One step of a source. row: the row of its first hypothesis among the values. */
static clf_status step(clf_beam_search *search, size_t source, size_t row, int32_t k)
{
    const int32_t given = clfi_decode_length(search->decoding, search->open[source * (size_t)search->width].sequence);
    const int32_t length = given - (int32_t)search->rules.begin_count + 1; /* length of results that end in this step */
    int32_t parents[CLFI_BEAM_MOST], count;
    CLF_TRY(extend(search, source, row, k, length, &count, parents));
    if (count > 0 && length < search->longest && !is_done(search, source, length))
        return replace(search, source, count, parents);
    CLF_TRY(hand_on_all(search, source, count));
    return replace(search, source, 0, parents);
}

/* A clf_decode_chooser's take. */
static clf_status take(void *user, const clf_decode_input *inputs, size_t count, const clf_view *logits)
{
    clf_beam_search *search = user;
    int32_t k;
    (void)inputs;
    CLF_TRY(extensions(search, logits, &k));
    CLF_TRY(search->rules.config ? score_by_rules(search, logits, k) : score_extensions(search, logits, k));
    CLF_TRY(clfi_check_finite("beam search: the score of extension", search->values, (size_t)logits->dim[0] * (size_t)k));
    search->stats.steps++;
    search->stats.step_rows += count;
    size_t row = 0;
    for (size_t s = 0; s < search->source_count; s++) {
        const int32_t open = search->sources[s].open;
        if (open)
            CLF_TRY(step(search, s, row, k));
        row += (size_t)open;
    }
    return CLF_OK;
}

clf_status clfi_beam_search_run(clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t sources,
                                clf_hypothesis_sink sink, void *user)
{
    static const clf_decode_chooser chooser = {give, take};
    if (sources == 0)
        return CLF_OK;
    CLF_TRY(clfi_beam_search_rehearse(search, ids, offsets, sources));
    CLF_TRY(clfi_decode_set_sources(search->decoding, ids, offsets, sources));
    search->sink = sink;
    search->user = user;
    clf_status st = begin(search, sources);
    if (st == CLF_OK)
        st = clfi_decode_loop(search->decoding, &chooser, search);
    if (st == CLF_OK) {
        search->stats.sources += sources;
        search->stats.source_tokens += (uint64_t)offsets[sources];
    }
    clfi_decode_drop_all(search->decoding); /* sequences that a failure left open */
    return st;
}
