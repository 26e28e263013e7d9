/* SPDX-License-Identifier: MIT */
/* Keys that nothing reads: the family's reader runs once more, watched. */
#include "cli/unread_keys.h"

#include <string.h>

#include "base/file.h"
#include "io/json.h"
#include "model/generation_config.h"
#include "model/labels.h"
#include "model/sentence_settings.h"
#include "model/similarity.h"

static bool is_among(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* They say nothing about a forward pass, or only what the stored tensors say too. */
static bool is_idle(const char *key)
{
    static const char *const keys[] = {
        /* files and programs */
        "architectures", "auto_map", "_name_or_path", "name_or_path", "transformers_version", "torch_dtype", "dtype", "use_cache",
        "gradient_checkpointing", "chunk_size_feed_forward", "return_dict", "output_past", "output_attentions", "output_hidden_states",
        "torchscript", "is_encoder_decoder", "add_cross_attention", "deterministic_flash_attn", "reference_compile",
        "repad_logits_with_grad", "_attn_implementation", "use_flash_attn", "use_xentropy", "fused_bias_fc", "fused_dropout_add_ln",
        "pad_vocab_size_multiple", "dense_seq_output", "reorder_and_upcast_attn", "last_layer_subset", "model_type", "n_ctx",
        "cache_implementation", "is_llama_config", "transformers.js_config", "pretraining_tp",
        /* training and other tasks */
        "initializer_range", "initializer_cutoff_factor", "hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout",
        "dropout", "attention_dropout", "qa_dropout", "seq_classif_dropout", "embedding_dropout", "mlp_dropout", "attn_pdrop", "embd_pdrop",
        "resid_pdrop", "finetuning_task", "task_specific_params", "label2id", "num_labels", "tie_word_embeddings", "tie_weights_",
        "decoder_bias", "sparse_prediction", "sparse_pred_ignore_index", "pooler_fc_size", "pooler_num_attention_heads",
        "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type", "directionality", "summary_activation", "summary_first_dropout",
        "summary_proj_to_labels", "summary_type", "summary_use_proj", "max_trained_positions", "activation_dropout", "classif_dropout",
        "dropout_rate", "encoder_layerdrop", "decoder_layerdrop", "init_std", "initializer_factor",
        /* tokens, which the tokenizer knows */
        "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "mask_token_id", "pad_token_id", "unk_token_id",
        /* told by the tensors */
        "attention_bias", "mlp_bias", "norm_bias", "classifier_bias", "qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias",
        "sinusoidal_pos_embds", "position_embedding_type", "head_dim",
        /* told by other keys */
        "_sliding_window_pattern", "original_max_position_embeddings",
        /* of pictures, and how a text is chosen, which generation_config.json says (info's generation_ignored) */
        "vision_config", "mm_tokens_per_image", "image_token_index", "boi_token_index", "eoi_token_index", "temperature", "top_k", "top_p",
        "do_sample", "max_length"};
    return is_among(key, keys, sizeof keys / sizeof *keys);
}

bool cli_is_generation_key(const char *key)
{
    static const char *const keys[] = {
        "eos_token_id",        "bos_token_id",       "pad_token_id",         "decoder_start_token_id", "forced_bos_token_id",
        "forced_eos_token_id", "bad_words_ids",      "min_length",           "suppress_tokens",        "begin_suppress_tokens",
        "num_beams",           "length_penalty",     "no_repeat_ngram_size", "early_stopping",         "transformers_version",
        "min_new_tokens",      "repetition_penalty", "renormalize_logits",   "_from_model_config",     "use_cache"};
    return is_among(key, keys, sizeof keys / sizeof *keys) || clfi_generation_config_refuses(key);
}

/* Layers that are all of the usual kind. */
static bool is_idle_list(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *kind = json_string_value(json_array_get(list, i));
        if (!kind || strcmp(kind, "full_attention") != 0)
            return false;
    }
    return json_array_size(list) > 0;
}

/* Whether a key that nothing reads changes no number. */
typedef bool (*idle_function)(const char *key, const json_t *value, int64_t labels);

/* The keys that are not seen, and not idle, null or false either. */
static clf_status list_unread(const json_t *json, const json_t *seen, idle_function changes_nothing, int64_t labels, json_t **out)
{
    json_t *list = json_array(), *value;
    const char *key;
    clf_status st = list ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "info: not enough memory");
    json_object_foreach((json_t *)json, key, value)
    {
        const bool is_told =
            json_object_get(seen, key) || changes_nothing(key, value, labels) || json_is_null(value) || json_is_false(value);
        if (st == CLF_OK && !is_told && json_array_append_new(list, json_string(key)) != 0)
            st = clfi_fail(CLF_OUT_OF_MEMORY, "info: not enough memory");
    }
    if (st == CLF_OK)
        *out = list;
    else
        json_decref(list);
    return st;
}

static bool is_idle_key(const char *key, const json_t *value, int64_t labels)
{
    return cli_is_generation_key(key) || is_idle(key) || is_idle_list(value) ||
           (labels == 0 &&
            (strcmp(key, "id2label") == 0 || strncmp(key, "classifier_", strlen("classifier_")) == 0 || strcmp(key, "problem_type") == 0));
}

clf_status cli_unread_keys(const json_t *config, const clf_family *family, json_t **out)
{
    json_t *seen = json_object();
    clf_network_config network;
    int64_t labels = 0;
    clf_status st = seen ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "info: not enough memory");
    clfi_json_watch(config, seen);
    if (st == CLF_OK)
        st = family->read_config(config, &network);
    if (st == CLF_OK) {
        clf_labels read = {.name = NULL};
        st = clfi_labels_count(config, &labels);
        if (st == CLF_OK)
            st = clfi_labels_read(config, &read);
        clfi_labels_free(&read);
    }
    clfi_json_watch(NULL, NULL);
    if (st == CLF_OK)
        st = list_unread(config, seen, is_idle_key, labels, out);
    json_decref(seen);
    return st;
}

/* Of config_sentence_transformers.json: versions, and types that numbers are kept in, which are float32 here. */
static bool is_idle_setting(const char *key, const json_t *value, int64_t labels)
{
    (void)value;
    (void)labels;
    static const char *const keys[] = {"__version__", "requirements", "keep_in_fp32_modules"};
    return is_among(key, keys, sizeof keys / sizeof *keys);
}

/* The keys that reading looks for; a similarity that is refused was looked for too. */
static clf_status see_settings(const json_t *json, const clf_sentence_config *config, int64_t labels, json_t *seen)
{
    clf_sentence_settings settings = {.truncate_dim = 0};
    clf_similarity similarity;
    clfi_json_watch(json, seen);
    clf_status st = clfi_similarity_parse(json, &similarity);
    if (st == CLF_UNSUPPORTED)
        st = CLF_OK;
    if (st == CLF_OK && config->has_modules)
        st = clfi_sentence_settings_parse(json, labels, &settings);
    clfi_json_watch(NULL, NULL);
    clfi_sentence_settings_free(&settings);
    return st;
}

clf_status cli_unread_settings(const char *directory, const clf_sentence_config *config, int64_t labels, json_t **out)
{
    json_t *json = NULL, *seen = json_object();
    clf_status st = seen ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "info: not enough memory");
    if (st == CLF_OK)
        st = clfi_json_read_in(directory, CLFI_SENTENCE_SETTINGS, NULL, &json);
    if (st == CLF_OK && json)
        st = see_settings(json, config, labels, seen);
    if (st == CLF_OK)
        st = list_unread(json, seen, is_idle_setting, labels, out);
    json_decref(json);
    json_decref(seen);
    return st;
}
