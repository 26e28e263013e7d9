/* SPDX-License-Identifier: MIT */
/* Reads generation_config.json and applies its rules to logits. */
#include "model/generation_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/adapter_directory.h"
#include "io/json.h"

/* The two files that may hold a key; `generation` (generation_config.json) is read first. */
typedef struct sources {
    json_t *generation; /* NULL: there is none */
    const json_t *config;
} sources;

/* The key's value in the first file where it is neither absent nor null; NULL: in none. */
static const json_t *find(const sources *from, const char *key, const char **where)
{
    const json_t *value = json_object_get(from->generation, key);
    const bool is_there = value && !json_is_null(value);
    *where = is_there ? "generation_config.json" : "config.json";
    if (!is_there)
        value = json_object_get(from->config, key);
    return value && !json_is_null(value) ? value : NULL;
}

/* The value of a rule, such as "bad_words_ids". config.json counts only if there is no generation_config.json, because transformers
 * writes default values into config.json. */
static const json_t *find_rule(const sources *from, const char *key, const char **where)
{
    const sources alone = {.generation = from->generation, .config = from->generation ? NULL : from->config};
    return find(&alone, key, where);
}

static clf_status read_id(const json_t *value, const char *where, const char *key, int32_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > INT32_MAX)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected a token id or a list of them", where, key);
    *out = (int32_t)json_integer_value(value);
    return CLF_OK;
}

/* Reads a token id or a list of ids; with is_nested a list of lists of one id each. */
static clf_status read_list(const json_t *value, const char *where, const char *key, bool is_nested, int32_t **out, size_t *out_count)
{
    const size_t count = json_is_array(value) ? json_array_size(value) : value ? 1 : 0;
    CLF_TRY(clfi_alloc(count, sizeof **out, key, out)); /* the caller frees it, also after a failure */
    for (size_t i = 0; i < count; i++) {
        const json_t *id = json_is_array(value) ? json_array_get(value, i) : value;
        if (is_nested && json_array_size(id) > 1)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s[%zu] has %zu tokens: expected one", where, key, i, json_array_size(id));
        CLF_TRY(read_id(is_nested ? json_array_get(id, 0) : id, where, key, &(*out)[i]));
    }
    *out_count = count;
    return CLF_OK;
}

static clf_status read_rule(const sources *from, const char *key, bool is_nested, int32_t **out, size_t *out_count)
{
    const char *where;
    const json_t *value = find_rule(from, key, &where);
    return read_list(value, where, key, is_nested, out, out_count);
}

/* Reads a count, which is not negative; 0 if the key is absent. */
static clf_status read_count(const sources *from, const char *key, size_t *out)
{
    const char *where;
    const json_t *value = find_rule(from, key, &where);
    int32_t count = 0;
    if (value && (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > INT32_MAX))
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected a number from 0", where, key);
    if (value)
        count = (int32_t)json_integer_value(value);
    *out = (size_t)count;
    return CLF_OK;
}

/* Reads the settings of a beam search. The search itself checks its width. */
static clf_status read_beams(const sources *from, clf_generation_config *out)
{
    const char *where;
    const json_t *penalty = find_rule(from, "length_penalty", &where), *stopping;
    out->length_penalty = penalty ? (float)json_number_value(penalty) : 1.0f;
    if (penalty && (!json_is_number(penalty) || !(fabsf(out->length_penalty) <= 100.0f)))
        CLF_FAIL(CLF_FORMAT, "%s: length_penalty: expected a number from -100 to 100", where);
    CLF_TRY(read_count(from, "num_beams", &out->beams));
    out->beams = out->beams ? out->beams : 1;
    stopping = find_rule(from, "early_stopping", &where);
    out->stop = json_is_true(stopping) ? CLF_BEAM_STOP_FULL : json_is_string(stopping) ? CLF_BEAM_STOP_NEVER : CLF_BEAM_STOP_BEATEN;
    if (stopping && !json_is_boolean(stopping) && !(json_is_string(stopping) && strcmp(json_string_value(stopping), "never") == 0))
        CLF_FAIL(CLF_FORMAT, "%s: early_stopping: expected true, false or \"never\"", where);
    return CLF_OK;
}

static bool is_among(int32_t id, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Removes end-of-text tokens from ids, as transformers does for bad words; returns how many ids are left. */
static size_t drop_ends(const clf_generation_config *config, int32_t *ids, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_among(ids[i], config->ends, config->end_count))
            ids[kept++] = ids[i];
    return kept;
}

/* Reads the tokens that must never be generated, from the two keys that list them. */
static clf_status read_banned(const sources *from, clf_generation_config *out)
{
    int32_t *more = NULL, *all = NULL;
    size_t count = 0;
    clf_status st;
    CLF_GOTO(read_rule(from, "bad_words_ids", true, &out->banned, &out->banned_count));
    out->banned_count = drop_ends(out, out->banned, out->banned_count);
    CLF_GOTO(read_rule(from, "suppress_tokens", false, &more, &count));
    CLF_GOTO(clfi_alloc(out->banned_count + count, sizeof *all, "suppress_tokens", &all));
    if (out->banned_count)
        memcpy(all, out->banned, out->banned_count * sizeof *all);
    if (count)
        memcpy(all + out->banned_count, more, count * sizeof *all);
    free(out->banned);
    out->banned = all;
    out->banned_count += count;
done:
    free(more);
    return st;
}

/* Reads the first token of an encoder-decoder's texts: decoder_start_token_id or, if a file lacks it, bos_token_id. config.json counts only
 * if generation_config.json has neither, as in transformers. */
static clf_status read_start(const sources *from, clf_generation_config *out)
{
    static const char first[] = "decoder_start_token_id", second[] = "bos_token_id";
    const sources inner = {.generation = from->generation}, outer = {.config = from->config};
    const struct {
        const sources *from;
        const char *key;
    } places[] = {{&inner, first}, {&inner, second}, {&outer, first}, {&outer, second}};
    const char *where, *key = NULL;
    const json_t *value = NULL;
    for (size_t i = 0; !value && i < COUNT(places); i++)
        value = find(places[i].from, key = places[i].key, &where);
    if (!value)
        return CLF_OK;
    CLF_TRY(read_id(value, where, key, &out->start[out->start_count++]));
    value = find_rule(from, key = "forced_bos_token_id", &where);
    return value ? read_id(value, where, key, &out->start[out->start_count++]) : CLF_OK;
}

/* min_new_tokens overrides min_length. A forced first token (forced_bos_token_id) already counts as a new token. */
static clf_status read_least(const sources *from, clf_generation_config *out)
{
    const char *where;
    out->forced_start_in = find_rule(from, "forced_bos_token_id", &where) ? where : NULL;
    CLF_TRY(read_count(from, "min_length", &out->min_length));
    CLF_TRY(read_count(from, "min_new_tokens", &out->min_new));
    if (find_rule(from, "min_new_tokens", &where))
        out->min_length = 0;
    if (out->min_new > 0 && out->forced_start_in)
        out->min_new--;
    return CLF_OK;
}

static clf_status read_repetition(const sources *from, clf_generation_config *out)
{
    const char *where;
    const json_t *penalty = find_rule(from, "repetition_penalty", &where);
    out->repeat_penalty = penalty ? (float)json_number_value(penalty) : 1.0f;
    if (!(out->repeat_penalty >= 1e-6f && out->repeat_penalty <= 1e6f))
        CLF_FAIL(CLF_FORMAT, "%s: repetition_penalty: expected a number from 1e-6 to 1e6", where);
    return read_count(from, "repetition_window", &out->repeat_window);
}

/* Rules that are not supported. A rule is accepted with its `idle` value, which changes nothing. */
static const struct {
    const char *key;
    double idle;
} refused[] = {{"sequence_bias", 0},
               {"encoder_repetition_penalty", 1},
               {"encoder_no_repeat_ngram_size", 0},
               {"num_beam_groups", 1},
               {"guidance_scale", 1},
               {"exponential_decay_length_penalty", 0},
               {"penalty_alpha", 0},
               {"dola_layers", 0},
               {"constraints", 0},
               {"force_words_ids", 0},
               {"watermarking_config", 0},
               {"stop_strings", 0},
               {"token_healing", 0}};

bool clfi_generation_config_refuses(const char *key)
{
    for (size_t i = 0; i < COUNT(refused); i++)
        if (strcmp(refused[i].key, key) == 0)
            return true;
    return false;
}

static clf_status check_refused(const sources *from)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        const char *where;
        const json_t *value = find_rule(from, refused[i].key, &where);
        char found[CLFI_JSON_FOUND_BYTES];
        if (value && !json_is_false(value) && !(json_is_number(value) && json_number_value(value) == refused[i].idle))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is not supported: expected %g or null, found %s", where, refused[i].key, refused[i].idle,
                     clfi_json_found(value, found));
    }
    return CLF_OK;
}

clf_status clfi_generation_config_read(const char *path, const json_t *config, clf_generation_config *out)
{
    sources from = {.config = config};
    char *place = NULL;
    const json_t *ends;
    const char *where;
    clf_generation_config made = {.ends = NULL};
    clf_status st;
    CLF_GOTO(clfi_adapter_place(path, NULL, 0, &place)); /* for an adapter, the base model's file, as in transformers */
    CLF_GOTO(clfi_json_read_in(place, "generation_config.json", NULL, &from.generation));
    ends = find(&from, "eos_token_id", &where); /* config.json's as well, unlike a rule: without an end a text runs to its limit */
    CLF_GOTO(read_list(ends, where, "eos_token_id", false, &made.ends, &made.end_count));
    CLF_GOTO(read_banned(&from, &made));
    CLF_GOTO(read_rule(&from, "begin_suppress_tokens", false, &made.banned_first, &made.banned_first_count));
    CLF_GOTO(read_rule(&from, "forced_eos_token_id", false, &made.forced_ends, &made.forced_end_count));
    CLF_GOTO(read_least(&from, &made));
    CLF_GOTO(read_repetition(&from, &made));
    made.is_renormalised = json_is_true(find_rule(&from, "renormalize_logits", &where));
    CLF_GOTO(check_refused(&from));
    CLF_GOTO(read_count(&from, "no_repeat_ngram_size", &made.no_repeat_ngram));
    CLF_GOTO(read_beams(&from, &made));
    CLF_GOTO(read_start(&from, &made));
    *out = made;
    made = (clf_generation_config){.ends = NULL};
done:
    free(place);
    json_decref(from.generation);
    clfi_generation_config_free(&made);
    return st;
}

static clf_status check_ids(const char *what, const int32_t *ids, size_t count, int64_t vocabulary)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= vocabulary)
            CLF_FAIL(CLF_FORMAT, "%s: token %d, the model has %lld", what, ids[i], (long long)vocabulary);
    return CLF_OK;
}

clf_status clfi_generation_config_check(const clf_generation_config *config, int64_t vocabulary, bool has_source)
{
    if (has_source && config->start_count == 0)
        CLF_FAIL(CLF_FORMAT, "config.json: expected decoder_start_token_id or bos_token_id, found neither");
    if (!has_source && config->forced_start_in)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: forced_bos_token_id: expected null for a model without an encoder, found a token id",
                 config->forced_start_in);
    if (has_source)
        CLF_TRY(check_ids("decoder_start_token_id, forced_bos_token_id", config->start, config->start_count, vocabulary));
    CLF_TRY(check_ids("begin_suppress_tokens", config->banned_first, config->banned_first_count, vocabulary));
    CLF_TRY(check_ids("forced_eos_token_id", config->forced_ends, config->forced_end_count, vocabulary));
    return check_ids("bad_words_ids, suppress_tokens", config->banned, config->banned_count, vocabulary);
}

static void ban(const int32_t *ids, size_t count, float *logits, size_t vocabulary)
{
    for (size_t i = 0; i < count; i++)
        if ((size_t)ids[i] < vocabulary)
            logits[ids[i]] = CLFI_IMPOSSIBLE;
}

/* Bans tokens that would repeat a run of n tokens that is already in the text. */
static void ban_repeated(const clf_text_state *text, size_t n, float *logits)
{
    if (n > text->count)
        return;
    const int32_t *last = text->tokens + text->count + 1 - n; /* the first n - 1 tokens of the run */
    for (size_t i = 0; i + n <= text->count; i++)
        if (n == 1 || memcmp(text->tokens + i, last, (n - 1) * sizeof *last) == 0)
            logits[text->tokens[i + n - 1]] = CLFI_IMPOSSIBLE;
}

static void force(const int32_t *ids, size_t count, float *logits, size_t vocabulary)
{
    for (size_t i = 0; i < vocabulary; i++)
        logits[i] = is_among((int32_t)i, ids, count) ? 0.0f : CLFI_IMPOSSIBLE;
}

static bool is_too_short(const clf_generation_config *config, const clf_text_state *text)
{
    return text->count < config->min_length || text->count - text->start < config->min_new;
}

static bool is_at_start(const clf_text_state *text)
{
    return text->count == text->start;
}

void clfi_generation_config_constrain(const clf_generation_config *config, const clf_text_state *text, float *logits, size_t vocabulary)
{
    ban(config->banned, config->banned_count, logits, vocabulary);
    if (config->no_repeat_ngram > 0)
        ban_repeated(text, config->no_repeat_ngram, logits);
    if (is_too_short(config, text))
        ban(config->ends, config->end_count, logits, vocabulary);
    if (is_at_start(text))
        ban(config->banned_first, config->banned_first_count, logits, vocabulary);
    if (text->is_last && config->forced_end_count)
        force(config->forced_ends, config->forced_end_count, logits, vocabulary);
}

bool clfi_generation_config_constrains(const clf_generation_config *config, const clf_text_state *text)
{
    return config->banned_count > 0 || config->no_repeat_ngram > 0 || (config->end_count > 0 && is_too_short(config, text)) ||
           (config->banned_first_count > 0 && is_at_start(text)) || (config->forced_end_count > 0 && text->is_last);
}

size_t clfi_generation_config_window(const clf_generation_config *config, size_t count)
{
    return config->repeat_window > 0 && config->repeat_window < count ? config->repeat_window : count;
}

void clfi_generation_config_free(clf_generation_config *config)
{
    free(config->ends);
    free(config->banned);
    free(config->banned_first);
    free(config->forced_ends);
    *config = (clf_generation_config){.ends = NULL};
}
