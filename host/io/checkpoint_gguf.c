/* SPDX-License-Identifier: MIT */
/* Checkpoints of GGUF: one file or the parts of a split one, whose metadata becomes config.json's keys. */
#include "io/checkpoint_gguf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/gguf.h"
#include "io/gguf_architecture.h"
#include "io/gguf_keys.h"
#include "io/gguf_rest.h"
#include "io/gguf_token_texts.h"

enum { KEY_BYTES = 256, LARGEST = 1 << 30 };

bool clfi_is_gguf(const char *path)
{
    static const char magic[] = {'G', 'G', 'U', 'F'}, ending[] = ".gguf";
    const size_t length = strlen(path);
    char head[sizeof magic];
    int file;
    bool is_directory;
    if (clfi_directory_exists(path, &is_directory) != CLF_OK || is_directory)
        return false;
    if (length >= sizeof ending && strcasecmp(path + length - (sizeof ending - 1), ending) == 0)
        return true;
    if (clfi_file_open_regular(path, &file) != CLF_OK)
        return false;
    const bool is_gguf = read(file, head, sizeof head) == (ssize_t)sizeof head && memcmp(head, magic, sizeof magic) == 0;
    close(file);
    return is_gguf;
}

static void close_file(void *state)
{
    clfi_gguf_close(state);
}

static bool describe(const clf_gguf_tensor *tensor, clf_checkpoint_tensor *out)
{
    if (!tensor)
        return false;
    *out = (clf_checkpoint_tensor){.name = tensor->name,
                                   .is_weight = true,
                                   .type = tensor->type,
                                   .rank = tensor->rank,
                                   .data = tensor->data,
                                   .type_name = clfi_weight_type_info(tensor->type)->name,
                                   .bytes = tensor->bytes,
                                   .offset = tensor->offset,
                                   .file = tensor->part};
    memcpy(out->dim, tensor->dim, sizeof tensor->dim);
    return true;
}

static bool at(const void *state, size_t index, clf_checkpoint_tensor *out)
{
    return describe(clfi_gguf_at(state, index), out);
}

static bool find(const void *state, const char *name, clf_checkpoint_tensor *out)
{
    return describe(clfi_gguf_find(state, name), out);
}

static size_t file_count(const void *state)
{
    return clfi_gguf_part_count(state);
}

static const char *file_path(const void *state, int file)
{
    return clfi_gguf_part_path(state, file);
}

static clf_file_map *file_map(const void *state, int file)
{
    return clfi_gguf_part_map(state, file);
}

static const clf_checkpoint_form form = {.name = CLFI_FORM_GGUF,
                                         .at = at,
                                         .find = find,
                                         .file_count = file_count,
                                         .file_path = file_path,
                                         .file_map = file_map,
                                         .close = close_file};

/* The configuration while it is made. */
typedef struct writer {
    const clf_gguf *file;
    char architecture[64];
    const clf_gguf_architecture *known; /* NULL: another one */
    json_t *config;
    json_t *seen; /* the keys that were looked for */
} writer;

static clf_status set(json_t *object, const char *key, json_t *value)
{
    if (!value || json_object_set_new(object, key, value) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for %s of a GGUF file's configuration", key);
    return CLF_OK;
}

static void full_key(const writer *w, const char *suffix, char out[KEY_BYTES])
{
    snprintf(out, KEY_BYTES, "%s.%s", w->architecture, suffix);
    (void)json_object_set_new(w->seen, out, json_true()); /* if memory is short, the key is reported as unread */
}

static const clf_gguf_value *value_of(const writer *w, const char *suffix)
{
    char key[KEY_BYTES];
    full_key(w, suffix, key);
    return clfi_gguf_value(w->file, key);
}

/* Copies a key of the file to config.json's name for it. If the file lacks the key: FORMAT if it is needed, else nothing is copied. */
static clf_status copy(const writer *w, json_t *to, const char *suffix, bool is_integer, bool is_needed, const char *key)
{
    char name[KEY_BYTES];
    int64_t integer;
    double number;
    full_key(w, suffix, name);
    if (!is_needed && !clfi_gguf_value(w->file, name))
        return CLF_OK;
    if (is_integer) {
        CLF_TRY(clfi_gguf_get_int(w->file, name, 0, LARGEST, &integer));
        return set(to, key, json_integer(integer));
    }
    CLF_TRY(clfi_gguf_get_number(w->file, name, -1e30, 1e30, &number));
    return set(to, key, json_real(number));
}

static clf_status copy_sizes(const writer *w)
{
    static const struct {
        const char *suffix, *key;
        bool is_integer, is_needed;
    } rows[] = {
        {CLFI_GGUF_WIDTH, "hidden_size", true, true},
        {CLFI_GGUF_HIDDEN, "intermediate_size", true, false},
        {CLFI_GGUF_LAYERS, "num_hidden_layers", true, true},
        {CLFI_GGUF_HEADS, "num_attention_heads", true, true},
        {CLFI_GGUF_KEY_HEADS, "num_key_value_heads", true, false},
        {CLFI_GGUF_KEY_SIZE, "head_dim", true, false},
        {CLFI_GGUF_POSITIONS, "max_position_embeddings", true, true},
        {CLFI_GGUF_WINDOW, "sliding_window", true, false},
        {CLFI_GGUF_RMS_EPS, "rms_norm_eps", false, false},
        {CLFI_GGUF_NORM_EPS, "layer_norm_epsilon", false, false},
        {CLFI_GGUF_ROPE_BASE, "rope_theta", false, false},
        {CLFI_GGUF_ROPE_LOCAL_BASE, "rope_local_base_freq", false, false},
        {CLFI_GGUF_SCORE_CAP, "attn_logit_softcapping", false, false},
        {CLFI_GGUF_LOGIT_CAP, "final_logit_softcapping", false, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        CLF_TRY(copy(w, w->config, rows[i].suffix, rows[i].is_integer, rows[i].is_needed && w->known, rows[i].key));
    static const char *const none_at_zero[] = {"sliding_window", "attn_logit_softcapping", "final_logit_softcapping"}; /* null elsewhere */
    for (size_t i = 0; i < COUNT(none_at_zero); i++) {
        const json_t *value = json_object_get(w->config, none_at_zero[i]);
        if (value && json_number_value(value) == 0)
            CLF_TRY(set(w->config, none_at_zero[i], json_null()));
    }
    if (w->known && w->known->has_local_base && !json_object_get(w->config, "sliding_window"))
        return set(w->config, "sliding_window", json_null()); /* no window, as in llama.cpp; config.json has a default */
    return CLF_OK;
}

static int64_t int_of(const writer *w, const char *key)
{
    return json_integer_value(json_object_get(w->config, key));
}

/* Elements of a head: the file's key_length, else width / heads. 0: unknown. */
static int64_t head_size(const writer *w)
{
    const int64_t heads = int_of(w, "num_attention_heads"), size = int_of(w, "head_dim");
    return size > 0 ? size : heads > 0 ? int_of(w, "hidden_size") / heads : 0;
}

/* A number of the file, or `standard`. */
static clf_status number_of(const writer *w, const char *suffix, double standard, double *out)
{
    char key[KEY_BYTES];
    *out = standard;
    full_key(w, suffix, key);
    return clfi_gguf_value(w->file, key) ? clfi_gguf_get_number(w->file, key, 0, 1e30, out) : CLF_OK;
}

static bool is_text(const clf_gguf_string *text, const char *other)
{
    return text->length == strlen(other) && memcmp(text->data, other, text->length) == 0;
}

/* Refuses limits of yarn that llama.cpp does not read for these architectures: it always takes the defaults. */
static clf_status check_betas(const writer *w)
{
    static const struct {
        const char *suffix;
        double standard;
    } rows[] = {{CLFI_GGUF_SCALING_FAST, CLFI_GGUF_YARN_FAST}, {CLFI_GGUF_SCALING_SLOW, CLFI_GGUF_YARN_SLOW}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char key[KEY_BYTES];
        double beta;
        CLF_TRY(number_of(w, rows[i].suffix, rows[i].standard, &beta));
        full_key(w, rows[i].suffix, key);
        if (beta != rows[i].standard)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %g: expected %g, which llama.cpp takes whatever this key says", clfi_gguf_path(w->file),
                     key, beta, rows[i].standard);
    }
    return CLF_OK;
}

/* Scores of yarn are multiplied by attn_factor beside its own factor, which config.json's attention_factor replaces. */
static clf_status copy_yarn(const writer *w, double factor, double magnitude, json_t *scaling)
{
    CLF_TRY(check_betas(w));
    CLF_TRY(copy(w, scaling, CLFI_GGUF_SCALING_POSITIONS, true, false, "original_max_position_embeddings"));
    return magnitude == 1 ? CLF_OK : set(scaling, "attention_factor", json_real(magnitude * (0.1 * log(factor) + 1)));
}

/* Whether some layers have windows, and the same rotary base and scaling as the other layers. */
static bool shares_rotary(const writer *w)
{
    return w->known && w->known->period > 0 && !w->known->has_local_base;
}

/* Without a type a factor is linear, and a factor of 0 is none, as in llama.cpp. */
static clf_status copy_scaling(const writer *w)
{
    char key[KEY_BYTES];
    clf_gguf_string type = {"linear", 6};
    double factor, magnitude;
    full_key(w, CLFI_GGUF_SCALING, key);
    if (clfi_gguf_value(w->file, key))
        CLF_TRY(clfi_gguf_get_text(w->file, key, &type));
    CLF_TRY(number_of(w, CLFI_GGUF_SCALING_OLD_FACTOR, 0, &factor));
    CLF_TRY(number_of(w, CLFI_GGUF_SCALING_FACTOR, factor, &factor));
    CLF_TRY(number_of(w, CLFI_GGUF_SCALING_MAGNITUDE, 1, &magnitude));
    const bool is_long = clfi_gguf_find(w->file, CLFI_GGUF_FACTORS_SHORT) != NULL;
    const bool is_yarn = is_text(&type, "yarn"), is_none = is_text(&type, "none") || (is_text(&type, "linear") && factor == 0) ||
                                                           (is_long && is_text(&type, "longrope") && (factor == 0 || factor == 1));
    full_key(w, CLFI_GGUF_SCALING_MAGNITUDE, key);
    if (magnitude != 1 && w->known && w->known->has_local_base)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %g: expected 1, since llama.cpp applies it to layers without the scaling too",
                 clfi_gguf_path(w->file), key, magnitude);
    if (!is_yarn && magnitude != 1 && !is_long)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %g: expected only with yarn or longrope", clfi_gguf_path(w->file), key, magnitude);
    full_key(w, CLFI_GGUF_SCALING_FACTOR, key);
    if (is_text(&type, "none") && factor != 0 && factor != 1 && shares_rotary(w))
        CLF_FAIL(CLF_UNSUPPORTED,
                 "%s: %s is %g beside the type \"none\": expected no factor, since llama.cpp applies it to layers with windows",
                 clfi_gguf_path(w->file), key, factor);
    if (is_none)
        return CLF_OK;
    json_t *scaling = json_object();
    CLF_TRY(set(w->config, "rope_scaling", scaling));
    CLF_TRY(set(scaling, "rope_type", json_stringn(type.data, type.length)));
    CLF_TRY(set(scaling, "factor", json_real(factor == 0 ? 1 : factor)));
    return is_yarn ? copy_yarn(w, factor, magnitude, scaling) : CLF_OK;
}

/* Longrope's divisors within the trained positions, as config.json has them. */
static clf_status set_long(const writer *w, json_t *list)
{
    json_t *scaling = json_object();
    clf_status st = set(w->config, "rope_scaling", scaling);
    if (st != CLF_OK) {
        json_decref(list);
        return st;
    }
    CLF_TRY(set(scaling, "short_factor", list));
    CLF_TRY(set(scaling, "rope_type", json_string("longrope")));
    CLF_TRY(copy(w, scaling, CLFI_GGUF_SCALING_POSITIONS, true, false, "original_max_position_embeddings"));
    double magnitude; /* stored by the converter: an absent key is no factor, unlike in config.json */
    CLF_TRY(number_of(w, CLFI_GGUF_SCALING_MAGNITUDE, 1, &magnitude));
    return set(scaling, "attention_factor", json_real(magnitude));
}

/* The scalings of Llama 3 and longrope come as tensors of divisors. */
static clf_status copy_frequency_factors(const writer *w)
{
    const clf_gguf_tensor *tensor = clfi_gguf_find(w->file, CLFI_GGUF_FREQUENCIES);
    const clf_gguf_tensor *longer = clfi_gguf_find(w->file, CLFI_GGUF_FACTORS_SHORT);
    const bool has_others = tensor || json_object_get(w->config, "rope_scaling");
    if ((longer && has_others) || (!longer && clfi_gguf_find(w->file, CLFI_GGUF_FACTORS_LONG)))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: expected %s", clfi_gguf_path(w->file), longer ? CLFI_GGUF_FACTORS_SHORT : CLFI_GGUF_FACTORS_LONG,
                 longer ? "neither " CLFI_GGUF_FREQUENCIES " nor another scaling beside it" : CLFI_GGUF_FACTORS_SHORT " beside it");
    if (!tensor && !longer)
        return CLF_OK;
    const char *name = tensor ? CLFI_GGUF_FREQUENCIES : CLFI_GGUF_FACTORS_SHORT;
    tensor = tensor ? tensor : longer;
    if (tensor->type != CLF_WEIGHT_F32 || tensor->rank != 1 || tensor->dim[0] > 65536)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected a vector of f32", clfi_gguf_path(w->file), name);
    json_t *list = json_array();
    CLF_TRY(longer == tensor ? set_long(w, list) : set(w->config, "rope_frequency_factors", list));
    for (int64_t i = 0; i < tensor->dim[0]; i++) {
        float factor;
        memcpy(&factor, (const char *)tensor->data + (size_t)i * sizeof factor, sizeof factor);
        if (!(factor > 0.0f) || !isfinite(factor))
            CLF_FAIL(CLF_FORMAT, "%s: %s[%lld] is %g: expected a finite number above 0", clfi_gguf_path(w->file), name, (long long)i,
                     (double)factor);
        json_t *number = json_real((double)factor);
        if (!number || json_array_append_new(list, number) != 0)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for %s", name);
    }
    return CLF_OK;
}

/* Sets the base of files that lack it, and refuses a base of layers with windows that the family cannot have. */
static clf_status copy_bases(const writer *w)
{
    double base, local;
    if (!w->known || w->known->has_layer_norms)
        return CLF_OK;
    CLF_TRY(number_of(w, CLFI_GGUF_ROPE_BASE, CLFI_GGUF_STANDARD_BASE, &base));
    CLF_TRY(set(w->config, "rope_theta", json_real(base)));
    CLF_TRY(number_of(w, CLFI_GGUF_ROPE_LOCAL_BASE, base, &local));
    if (shares_rotary(w) && local != base)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s." CLFI_GGUF_ROPE_LOCAL_BASE " is %g: expected %s." CLFI_GGUF_ROPE_BASE ", %g",
                 clfi_gguf_path(w->file), w->architecture, local, w->architecture, base);
    return CLF_OK;
}

static clf_status copy_rotary(const writer *w)
{
    char key[KEY_BYTES];
    int64_t dims;
    const int64_t head = head_size(w);
    CLF_TRY(copy_bases(w));
    full_key(w, CLFI_GGUF_ROPE_DIMS, key);
    CLF_TRY(clfi_gguf_opt_int(w->file, key, 0, LARGEST, head, &dims));
    if (head > 0 && dims != head)
        CLF_TRY(set(w->config, "partial_rotary_factor", json_real((double)dims / (double)head)));
    CLF_TRY(set(w->config, "rope_interleaved", json_boolean(w->known && w->known->is_interleaved)));
    CLF_TRY(copy_scaling(w));
    return copy_frequency_factors(w);
}

static clf_status copy_ends(const writer *w)
{
    json_t *list = json_array();
    int32_t *ends = NULL;
    size_t count;
    CLF_TRY(set(w->config, "eos_token_id", list));
    CLF_TRY(clfi_gguf_end_tokens(w->file, &ends, &count));
    bool is_whole = true;
    for (size_t i = 0; i < count; i++)
        is_whole = json_array_append_new(list, json_integer(ends[i])) == 0 && is_whole;
    free(ends);
    if (!is_whole)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for eos_token_id");
    return CLF_OK;
}

/* The penalty of repetitions and the number of tokens that it looks at. A window of -1 is the whole text; 0 turns the penalty off. */
static clf_status copy_penalty(const writer *w)
{
    const bool has_penalty = clfi_gguf_value(w->file, CLFI_GGUF_REPEAT_PENALTY) != NULL;
    double penalty;
    int64_t window;
    CLF_TRY(clfi_gguf_opt_int(w->file, CLFI_GGUF_REPEAT_WINDOW, -1, INT32_MAX, has_penalty ? CLFI_GGUF_STANDARD_WINDOW : -1, &window));
    if (window > 0)
        CLF_TRY(set(w->config, "repetition_window", json_integer(window)));
    if (!has_penalty)
        return CLF_OK;
    CLF_TRY(clfi_gguf_get_number(w->file, CLFI_GGUF_REPEAT_PENALTY, 1e-6, 1e6, &penalty));
    return window == 0 ? CLF_OK : set(w->config, "repetition_penalty", json_real(penalty));
}

/* Tokens that no text has. Ids outside the vocabulary suppress nothing. */
static clf_status copy_suppressed(const writer *w)
{
    static const char key[] = CLFI_GGUF_TOKEN_SUPPRESSED;
    const clf_gguf_value *value = clfi_gguf_value(w->file, key), *tokens = clfi_gguf_value(w->file, CLFI_GGUF_TOKEN_TOKENS);
    if (!value)
        return CLF_OK;
    json_t *list = json_array();
    CLF_TRY(set(w->config, "suppress_tokens", list));
    for (size_t i = 0; i < (value->type == CLF_GGUF_ARRAY ? value->count : 1); i++) {
        int64_t id;
        if (value->type != CLF_GGUF_ARRAY || !clfi_gguf_int(value, i, &id))
            CLF_FAIL(CLF_FORMAT, "%s: %s: expected an array of token ids", clfi_gguf_path(w->file), key);
        if (id < 0 || id > INT32_MAX || (tokens && (uint64_t)id >= tokens->count))
            continue;
        if (json_array_append_new(list, json_integer(id)) != 0)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for suppress_tokens");
    }
    return CLF_OK;
}

/* Gemma's scale of the scores, which llama.cpp's converter does not store. Only the largest models have another one. */
static clf_status copy_gemma(const writer *w)
{
    const int64_t heads = int_of(w, "num_attention_heads"), layers = int_of(w, "num_hidden_layers");
    const int64_t scalar = layers == w->known->largest && heads > 0 ? int_of(w, "hidden_size") / heads : head_size(w);
    CLF_TRY(set(w->config, "norms_hold_one", json_true()));
    return w->known->largest == 0 ? CLF_OK : set(w->config, "query_pre_attn_scalar", json_integer(scalar));
}

/* Refuses values whose size differs from that of keys: no network here has them. */
static clf_status check_value_size(const writer *w)
{
    char key[KEY_BYTES];
    int64_t size;
    const int64_t head = head_size(w);
    full_key(w, CLFI_GGUF_VALUE_SIZE, key);
    CLF_TRY(clfi_gguf_opt_int(w->file, key, 0, LARGEST, head, &size));
    if (size != head)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %lld: expected the size of keys, %lld", clfi_gguf_path(w->file), key, (long long)size,
                 (long long)head);
    return CLF_OK;
}

/* Every writer stores epsilon, and no value can be guessed: Llama has had 1e-6 and 1e-5. */
static clf_status check_epsilon(const writer *w)
{
    char key[KEY_BYTES];
    double epsilon;
    full_key(w, w->known->has_layer_norms ? CLFI_GGUF_NORM_EPS : CLFI_GGUF_RMS_EPS, key);
    return clfi_gguf_get_number(w->file, key, 0, 1, &epsilon);
}

/* Copies which layers have windows, if the file has windows and the key: a bool for each layer, or a number n: each n-th layer has none. */
static clf_status copy_windows(const writer *w)
{
    enum { MOST_LAYERS = 4096 }; /* more are refused by the family */
    const int64_t layers = int_of(w, "num_hidden_layers");
    const clf_gguf_value *value = w->known->period > 0 ? value_of(w, CLFI_GGUF_WINDOW_PATTERN) : NULL;
    if (!value || layers > MOST_LAYERS || json_is_null(json_object_get(w->config, "sliding_window")))
        return CLF_OK;
    const bool is_list = value->type == CLF_GGUF_ARRAY;
    int64_t period = 0;
    json_t *list = json_array();
    CLF_TRY(set(w->config, "layer_types", list));
    if ((is_list && value->count != (size_t)layers) || (!is_list && (!clfi_gguf_int(value, 0, &period) || period < 0)))
        CLF_FAIL(CLF_FORMAT, "%s: %s.%s: expected one number, or one for each of %lld layers", clfi_gguf_path(w->file), w->architecture,
                 CLFI_GGUF_WINDOW_PATTERN, (long long)layers);
    for (int64_t i = 0; i < layers; i++) {
        double is_local = period == 0 || i % period < period - 1;
        if (is_list && !clfi_gguf_number(value, (size_t)i, &is_local))
            CLF_FAIL(CLF_FORMAT, "%s: %s.%s[%lld]: expected a bool or a number", clfi_gguf_path(w->file), w->architecture,
                     CLFI_GGUF_WINDOW_PATTERN, (long long)i);
        if (json_array_append_new(list, json_string(is_local != 0 ? "sliding_attention" : "full_attention")) != 0)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for layer_types");
    }
    return CLF_OK;
}

/* Refuses GGUF files that hold no whole model, such as adapters and encoders of pictures. */
static clf_status check_type(const clf_gguf *file)
{
    static const char model[] = "model";
    clf_gguf_string type;
    if (!clfi_gguf_value(file, CLFI_GGUF_TYPE))
        return CLF_OK;
    CLF_TRY(clfi_gguf_get_text(file, CLFI_GGUF_TYPE, &type));
    if (type.length != sizeof model - 1 || memcmp(type.data, model, type.length) != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: general.type \"%.*s\": expected a whole model (merge an adapter into its model first)",
                 clfi_gguf_path(file), (int)(type.length < 60 ? type.length : 60), type.data);
    return CLF_OK;
}

static clf_status make_config(writer *w)
{
    clf_gguf_string architecture;
    const clf_gguf_tensor *tokens = clfi_gguf_find(w->file, "token_embd.weight");
    CLF_TRY(check_type(w->file));
    CLF_TRY(clfi_gguf_get_text(w->file, CLFI_GGUF_ARCHITECTURE, &architecture));
    if (architecture.length >= sizeof w->architecture)
        CLF_FAIL(CLF_FORMAT, "%s: general.architecture has %zu bytes", clfi_gguf_path(w->file), architecture.length);
    memcpy(w->architecture, architecture.data, architecture.length);
    for (size_t i = 0; i < architecture.length; i++)
        if (architecture.data[i] <= ' ' || architecture.data[i] > '~')
            CLF_FAIL(CLF_FORMAT, "%s: general.architecture: expected letters and digits", clfi_gguf_path(w->file));
    char key[KEY_BYTES];
    int64_t experts;
    full_key(w, CLFI_GGUF_EXPERTS, key);
    CLF_TRY(clfi_gguf_opt_int(w->file, key, 0, LARGEST, 0, &experts));
    if (experts > 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s.expert_count: mixtures of experts are not supported", clfi_gguf_path(w->file), w->architecture);
    w->known = clfi_gguf_architecture_named(w->architecture);
    const clf_gguf_architecture *meant = w->known ? NULL : clfi_gguf_architecture_of(w->architecture);
    if (meant)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: general.architecture \"%s\": expected \"%s\", its name in GGUF files", clfi_gguf_path(w->file),
                 w->architecture, meant->name);
    CLF_TRY(set(w->config, "model_type", json_string(w->known ? w->known->model_type : w->architecture)));
    if (w->known)
        CLF_TRY(check_epsilon(w));
    CLF_TRY(copy_sizes(w));
    if (tokens)
        CLF_TRY(set(w->config, "vocab_size", json_integer(tokens->dim[0])));
    CLF_TRY(set(w->config, "tie_word_embeddings", json_boolean(clfi_gguf_find(w->file, "output.weight") == NULL)));
    CLF_TRY(copy_rotary(w));
    CLF_TRY(copy_ends(w));
    CLF_TRY(copy_penalty(w));
    CLF_TRY(copy_suppressed(w));
    if (w->known && w->known->norms_hold_one)
        CLF_TRY(copy_gemma(w));
    if (!w->known)
        return CLF_OK; /* its model_type is refused later, with its name */
    CLF_TRY(check_value_size(w));
    CLF_TRY(copy_windows(w));
    CLF_TRY(clfi_gguf_refuse_rest(w->file, w->architecture, head_size(w)));
    return clfi_gguf_keep_rest(w->file, w->architecture, w->seen, w->config);
}

/* Takes over the file, also on failure. */
static clf_status open_file(clf_gguf *file, clf_checkpoint **out)
{
    writer w = {.file = file, .config = json_object(), .seen = json_object()};
    const clf_status st = w.config && w.seen
                              ? make_config(&w)
                              : clfi_fail(CLF_OUT_OF_MEMORY, "malloc: not enough memory for configuration of %s", clfi_gguf_path(file));
    json_decref(w.seen);
    if (st != CLF_OK) {
        json_decref(w.config);
        clfi_gguf_close(file);
        return st;
    }
    return clfi_checkpoint_create(&form, file, w.config, out);
}

clf_status clfi_checkpoint_open_gguf(const char *path, clf_checkpoint **out)
{
    clf_gguf *file;
    CLF_TRY(clfi_gguf_open(path, &file));
    return open_file(file, out);
}

clf_status clfi_checkpoint_parse_gguf(const void *data, size_t size, const char *name, clf_checkpoint **out)
{
    clf_gguf *file;
    CLF_TRY(clfi_gguf_parse(data, size, name, &file));
    return open_file(file, out);
}
