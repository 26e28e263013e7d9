/* SPDX-License-Identifier: MIT */
/* Writes a network's sizes and settings as GGUF's metadata. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/gguf_keys.h"
#include "io/json.h"
#include "model/gguf_export.h"

enum { KEY_BYTES = 128 };

static clf_status refuse(const clf_gguf_architecture *a, const char *what)
{
    CLF_FAIL(CLF_UNSUPPORTED, "%s: %s cannot be stored in GGUF's architecture \"%s\"", CLFI_MODEL_CONFIG, what, a->name);
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

/* The attention of all layers, or of those without a window. */
static const clf_attention_shape *shape_of(const clf_network_config *network)
{
    return &network->decoder.attention;
}

static bool has_rotary(const clf_network_config *network)
{
    return shape_of(network)->rotary.base != 0;
}

static int64_t window_of(const clf_network_config *network)
{
    const clf_stack_config *decoder = &network->decoder;
    return clfi_stack_local_count(decoder) > 0 ? decoder->local.window : decoder->attention.window;
}

double clfi_gguf_query_scale(const clf_gguf_architecture *a, const clf_network_config *network)
{
    const clf_attention_shape *shape = shape_of(network);
    const int64_t divisor = network->decoder.layers == a->largest ? network->decoder.width / shape->heads : shape->head_size;
    const double factor = shape->scale > 0 ? (double)shape->scale * sqrt((double)divisor) : 1;
    return is_near(factor, 1) ? 1 : factor;
}

/* Whether windows are in exactly the layers in which the architecture has them. */
static bool has_its_windows(const clf_gguf_architecture *a, const clf_network_config *network)
{
    const clf_stack_config *decoder = &network->decoder;
    for (int64_t i = 0; i < decoder->layers; i++)
        if ((clfi_stack_attention(decoder, i)->window > 0) != (a->period == 0 || i % a->period != a->period - 1))
            return false;
    return true;
}

/* Whether the rotary positions of layers with windows are scaled. The architecture can scale only those of the other layers. */
static bool has_scaled_windows(const clf_network_config *network)
{
    const clf_stack_config *decoder = &network->decoder;
    const clf_attention_shape *local = clfi_stack_local_count(decoder) > 0 ? &decoder->local : &decoder->attention;
    const clf_rotary *rotary = &local->rotary;
    return local->window > 0 && (rotary->scaling != CLF_ROTARY_PLAIN || rotary->divisor_count > 0 || rotary->magnitude != 0);
}

static clf_status check_network(const clf_gguf_architecture *a, const clf_network_config *network)
{
    const clf_stack_config *decoder = &network->decoder;
    const clf_attention_shape *shape = shape_of(network);
    const clf_rotary *rotary = &shape->rotary;
    if (strcmp(clf_activation_name(decoder->activation), a->activation) != 0)
        return refuse(a, clf_activation_name(decoder->activation));
    if (decoder->divides_by_depth || (a->largest == 0 && shape->scale > 0))
        return refuse(a, "another scale of the scores (scale_attn_weights, scale_attn_by_inverse_layer_idx)");
    if (!has_rotary(network))
        return CLF_OK;
    if (!shape->is_causal)
        return refuse(a, "attention to later tokens (is_causal, use_bidirectional_attention)");
    if (a->period > 0 && !has_its_windows(a, network))
        return refuse(a, "layer_types of another order than its own");
    if (a->has_soft_caps && !(shape->soft_cap > 0))
        return refuse(a, "attn_logit_softcapping null");
    if (a->has_soft_caps && !(network->logit_soft_cap > 0))
        return refuse(a, "final_logit_softcapping null");
    if (!a->has_soft_caps && shape->soft_cap > 0)
        return refuse(a, "attn_logit_softcapping");
    if (rotary->dims % 2 != 0)
        return refuse(a, "an odd number of rotary elements");
    if (rotary->dims != shape->head_size && !a->turns_parts)
        return refuse(a, "partial_rotary_factor");
    if (rotary->divisor_count > 0 && !a->turns_parts)
        return refuse(a, "rope_type longrope");
    if (rotary->scaling == CLF_ROTARY_LLAMA3 && a->scalings < CLF_GGUF_SCALINGS_LLAMA3)
        return refuse(a, "rope_type llama3");
    if (rotary->scaling == CLF_ROTARY_YARN && a->scalings < CLF_GGUF_SCALINGS_YARN)
        return refuse(a, "rope_type yarn");
    if (rotary->scaling == CLF_ROTARY_YARN && (rotary->has_exact_range || !is_near(rotary->magnitude, 0.1 * log(rotary->factor) + 1)))
        return refuse(a, "rope_type yarn with truncate false or an attention_factor");
    if (rotary->scaling == CLF_ROTARY_YARN &&
        (rotary->high_frequency_factor != CLFI_GGUF_YARN_FAST || rotary->low_frequency_factor != CLFI_GGUF_YARN_SLOW))
        return refuse(a, "rope_type yarn with a beta_fast other than 32 or a beta_slow other than 1");
    if (rotary->scaling == CLF_ROTARY_LINEAR && a->scalings < CLF_GGUF_SCALINGS_LINEAR)
        return refuse(a, "a scaling of the rotary positions");
    if (a->has_local_base && has_scaled_windows(network))
        return refuse(a, "a scaling of the rotary positions of layers with windows");
    return CLF_OK;
}

typedef struct metadata_writer {
    const clf_gguf_architecture *architecture;
    clf_gguf_values *values;
} metadata_writer;

static const char *full_key(const metadata_writer *w, const char *suffix, char out[KEY_BYTES])
{
    snprintf(out, KEY_BYTES, "%s.%s", w->architecture->name, suffix);
    return out;
}

static clf_status put_int(const metadata_writer *w, const char *suffix, int64_t value)
{
    char key[KEY_BYTES];
    return clfi_gguf_put_int(w->values, full_key(w, suffix, key), (uint32_t)value);
}

static clf_status put_number(const metadata_writer *w, const char *suffix, double value)
{
    char key[KEY_BYTES];
    return clfi_gguf_put_number(w->values, full_key(w, suffix, key), value);
}

static clf_status put_text(const metadata_writer *w, const char *suffix, const char *value)
{
    char key[KEY_BYTES];
    return clfi_gguf_put_text(w->values, full_key(w, suffix, key), value);
}

static clf_status put_scaling(const metadata_writer *w, const clf_rotary *rotary)
{
    if (rotary->divisor_count > 0) { /* longrope: beside its tensors */
        CLF_TRY(put_int(w, CLFI_GGUF_SCALING_POSITIONS, rotary->trained_positions));
        return put_number(w, CLFI_GGUF_SCALING_MAGNITUDE, rotary->magnitude);
    }
    if (rotary->scaling != CLF_ROTARY_LINEAR && rotary->scaling != CLF_ROTARY_YARN)
        return CLF_OK;
    CLF_TRY(put_text(w, CLFI_GGUF_SCALING, rotary->scaling == CLF_ROTARY_LINEAR ? "linear" : "yarn"));
    CLF_TRY(put_number(w, CLFI_GGUF_SCALING_FACTOR, rotary->factor));
    if (rotary->scaling == CLF_ROTARY_LINEAR)
        return CLF_OK;
    CLF_TRY(put_int(w, CLFI_GGUF_SCALING_POSITIONS, rotary->trained_positions));
    CLF_TRY(put_number(w, CLFI_GGUF_SCALING_FAST, rotary->high_frequency_factor));
    return put_number(w, CLFI_GGUF_SCALING_SLOW, rotary->low_frequency_factor);
}

static clf_status put_rotary(const metadata_writer *w, const clf_network_config *network)
{
    const clf_attention_shape *shape = shape_of(network);
    const bool has_own_base = w->architecture->has_local_base;
    const bool is_local = shape->window > 0;
    CLF_TRY(put_int(w, CLFI_GGUF_KEY_SIZE, shape->head_size));
    CLF_TRY(put_int(w, CLFI_GGUF_VALUE_SIZE, shape->head_size));
    CLF_TRY(put_int(w, CLFI_GGUF_ROPE_DIMS, shape->rotary.dims));
    if (has_own_base)
        CLF_TRY(put_number(w, CLFI_GGUF_ROPE_LOCAL_BASE, is_local ? shape->rotary.base : network->decoder.local.rotary.base));
    CLF_TRY(put_number(w, CLFI_GGUF_ROPE_BASE, has_own_base && is_local ? 1e6 : shape->rotary.base));
    return put_scaling(w, &shape->rotary);
}

/* Writes windows and soft caps. If the architecture has no windows, *out_positions limits texts to the length of one, in which every token
 * sees all before it. */
static clf_status put_attention(const metadata_writer *w, const clf_network_config *network, int64_t *out_positions)
{
    const clf_gguf_architecture *a = w->architecture;
    const int64_t window = window_of(network);
    if (window > 0 && a->has_windows && has_its_windows(a, network))
        CLF_TRY(put_int(w, CLFI_GGUF_WINDOW, window));
    else if (window > 0 && window < network->target.max_positions)
        *out_positions = window;
    if (shape_of(network)->soft_cap > 0)
        CLF_TRY(put_number(w, CLFI_GGUF_SCORE_CAP, (double)shape_of(network)->soft_cap));
    if (network->logit_soft_cap > 0)
        CLF_TRY(put_number(w, CLFI_GGUF_LOGIT_CAP, (double)network->logit_soft_cap));
    return CLF_OK;
}

clf_status clfi_gguf_put_network(const clf_gguf_architecture *a, const clf_network_config *network, const json_t *config,
                                 clf_gguf_values *values, int64_t *out_positions)
{
    const metadata_writer w = {a, values};
    const clf_stack_config *decoder = &network->decoder;
    int64_t positions = network->target.max_positions;
    CLF_TRY(check_network(a, network));
    CLF_TRY(clfi_gguf_put_text(values, CLFI_GGUF_ARCHITECTURE, a->name));
    CLF_TRY(put_int(&w, CLFI_GGUF_LAYERS, decoder->layers));
    CLF_TRY(put_int(&w, CLFI_GGUF_WIDTH, decoder->width));
    CLF_TRY(put_int(&w, CLFI_GGUF_HIDDEN, decoder->hidden_width));
    CLF_TRY(put_int(&w, CLFI_GGUF_HEADS, decoder->attention.heads));
    CLF_TRY(put_int(&w, CLFI_GGUF_KEY_HEADS, decoder->attention.key_heads));
    CLF_TRY(put_number(&w, decoder->norm == CLF_NORM_LAYER ? CLFI_GGUF_NORM_EPS : CLFI_GGUF_RMS_EPS, (double)decoder->norm_eps));
    *out_positions = 0;
    if (has_rotary(network)) {
        CLF_TRY(clfi_json_get_int(config, CLFI_MODEL_CONFIG, "max_position_embeddings", 1, CLFI_CONFIG_LARGEST, &positions));
        CLF_TRY(put_rotary(&w, network));
        CLF_TRY(put_attention(&w, network, out_positions));
    }
    return put_int(&w, CLFI_GGUF_POSITIONS, *out_positions > 0 ? *out_positions : positions);
}
