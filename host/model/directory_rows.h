/* SPDX-License-Identifier: MIT */
/* The rows of the account: X(file, key, verdict, reason). */
#ifndef CLFI_MODEL_DIRECTORY_ROWS_H
#define CLFI_MODEL_DIRECTORY_ROWS_H

#include "io/adapter_directory.h"
#include "io/checkpoint.h"
#include "io/model_directory.h"
#include "model/sentence_settings.h"

#define CLFI_ACCOUNT_GENERATION "generation_config.json"
#define CLFI_ACCOUNT_MODEL_ARGUMENTS CLFI_TRANSFORMER_SETTINGS ": model_kwargs"
#define CLFI_ACCOUNT_TOKENIZER_ARGUMENTS CLFI_TRANSFORMER_SETTINGS ": processor_kwargs"
#define CLFI_ACCOUNT_CONFIG_ARGUMENTS CLFI_TRANSFORMER_SETTINGS ": config_kwargs"
#define CLFI_ACCOUNT_PROCESSING CLFI_TRANSFORMER_SETTINGS ": processing_kwargs"
#define CLFI_ACCOUNT_TEXT CLFI_ACCOUNT_PROCESSING ": text"
#define CLFI_ACCOUNT_COMMON CLFI_ACCOUNT_PROCESSING ": common"
#define CLFI_ACCOUNT_MODALITIES CLFI_TRANSFORMER_SETTINGS ": modality_config"

#define CLFI_BY_FILES "names files and programs, or how they keep numbers"
#define CLFI_BY_CLASS "which software made the tokenizer, and which class: read by tokenizer_software.c"
#define CLFI_BY_TRAINING "of training and of other tasks"
#define CLFI_BY_TOKENS "tokens, which the tokenizer knows"
#define CLFI_BY_TENSORS "the stored tensors tell it"
#define CLFI_BY_KEYS "other keys tell it"
#define CLFI_BY_PICTURES "of pictures and sounds; texts alone are read"
#define CLFI_BY_CHOICE "how a text is chosen: generation_config.json says it"
#define CLFI_BY_RUNNING "how fast it runs and in which memory; numbers are float32 here"
#define CLFI_BY_DECODING "read by generation_config.c, or it says nothing about a text"
#define CLFI_BY_QUANTIZATION \
    "weights of this kind are not read (expected float32, float16 or bfloat16 in safetensors, or a GGUF file, which has quantised types)"
#define CLFI_BY_MODULE "read by sentence_config.c and sentence_head.c"
#define CLFI_BY_SETTINGS "read by transformer_settings.c"
#define CLFI_BY_WIDTH "the network tells it"
#define CLFI_BY_PICKLE "a pickle, a program that its reader runs; the same weights lie in model.safetensors"
#define CLFI_BY_OTHER_FORM "the same network for another program"
#define CLFI_BY_CARD "describes the model to people"

#define CLFI_ACCOUNT_ROWS(X)                                                                                                               \
    X(CLFI_MODEL_CONFIG, CLFI_CONFIG_ARGUMENTS, HARMLESS, "config_kwargs, which stand among the keys already")                             \
    X(CLFI_MODEL_CONFIG, "quantization_config", REFUSED, CLFI_BY_QUANTIZATION)                                                             \
    X(CLFI_MODEL_CONFIG, "quantization", REFUSED, CLFI_BY_QUANTIZATION)                                                                    \
    X(CLFI_MODEL_CONFIG, "compression_config", REFUSED, CLFI_BY_QUANTIZATION)                                                              \
    X(CLFI_MODEL_CONFIG, "architectures", HARMLESS, CLFI_BY_FILES)                                                                         \
    X(CLFI_MODEL_CONFIG, "trust_remote_code", HARMLESS, CLFI_BY_FILES)                                                                     \
    X(CLFI_MODEL_CONFIG, "auto_map", HARMLESS, CLFI_BY_FILES)                                                                              \
    X(CLFI_MODEL_CONFIG, "_name_or_path", HARMLESS, CLFI_BY_FILES)                                                                         \
    X(CLFI_MODEL_CONFIG, "name_or_path", HARMLESS, CLFI_BY_FILES)                                                                          \
    X(CLFI_MODEL_CONFIG, "transformers_version", FOLLOWED, CLFI_BY_CLASS)                                                                  \
    X(CLFI_MODEL_CONFIG, "tokenizer_class", FOLLOWED, CLFI_BY_CLASS)                                                                       \
    X(CLFI_MODEL_CONFIG, "torch_dtype", HARMLESS, CLFI_BY_FILES)                                                                           \
    X(CLFI_MODEL_CONFIG, "dtype", HARMLESS, CLFI_BY_FILES)                                                                                 \
    X(CLFI_MODEL_CONFIG, "use_cache", HARMLESS, CLFI_BY_FILES)                                                                             \
    X(CLFI_MODEL_CONFIG, "gradient_checkpointing", HARMLESS, CLFI_BY_FILES)                                                                \
    X(CLFI_MODEL_CONFIG, "chunk_size_feed_forward", HARMLESS, CLFI_BY_FILES)                                                               \
    X(CLFI_MODEL_CONFIG, "return_dict", HARMLESS, CLFI_BY_FILES)                                                                           \
    X(CLFI_MODEL_CONFIG, "output_past", HARMLESS, CLFI_BY_FILES)                                                                           \
    X(CLFI_MODEL_CONFIG, "output_attentions", HARMLESS, CLFI_BY_FILES)                                                                     \
    X(CLFI_MODEL_CONFIG, "output_hidden_states", HARMLESS, CLFI_BY_FILES)                                                                  \
    X(CLFI_MODEL_CONFIG, "torchscript", HARMLESS, CLFI_BY_FILES)                                                                           \
    X(CLFI_MODEL_CONFIG, "is_encoder_decoder", HARMLESS, CLFI_BY_FILES)                                                                    \
    X(CLFI_MODEL_CONFIG, "add_cross_attention", HARMLESS, CLFI_BY_FILES)                                                                   \
    X(CLFI_MODEL_CONFIG, "deterministic_flash_attn", HARMLESS, CLFI_BY_FILES)                                                              \
    X(CLFI_MODEL_CONFIG, "reference_compile", HARMLESS, CLFI_BY_FILES)                                                                     \
    X(CLFI_MODEL_CONFIG, "repad_logits_with_grad", HARMLESS, CLFI_BY_FILES)                                                                \
    X(CLFI_MODEL_CONFIG, "_attn_implementation", HARMLESS, CLFI_BY_FILES)                                                                  \
    X(CLFI_MODEL_CONFIG, "use_flash_attn", HARMLESS, CLFI_BY_FILES)                                                                        \
    X(CLFI_MODEL_CONFIG, "use_xentropy", HARMLESS, CLFI_BY_FILES)                                                                          \
    X(CLFI_MODEL_CONFIG, "fused_bias_fc", HARMLESS, CLFI_BY_FILES)                                                                         \
    X(CLFI_MODEL_CONFIG, "fused_dropout_add_ln", HARMLESS, CLFI_BY_FILES)                                                                  \
    X(CLFI_MODEL_CONFIG, "pad_vocab_size_multiple", HARMLESS, CLFI_BY_FILES)                                                               \
    X(CLFI_MODEL_CONFIG, "dense_seq_output", HARMLESS, CLFI_BY_FILES)                                                                      \
    X(CLFI_MODEL_CONFIG, "reorder_and_upcast_attn", HARMLESS, CLFI_BY_FILES)                                                               \
    X(CLFI_MODEL_CONFIG, "last_layer_subset", HARMLESS, CLFI_BY_FILES)                                                                     \
    X(CLFI_MODEL_CONFIG, "model_type", HARMLESS, CLFI_BY_FILES)                                                                            \
    X(CLFI_MODEL_CONFIG, "n_ctx", HARMLESS, CLFI_BY_FILES)                                                                                 \
    X(CLFI_MODEL_CONFIG, "cache_implementation", HARMLESS, CLFI_BY_FILES)                                                                  \
    X(CLFI_MODEL_CONFIG, "is_llama_config", HARMLESS, CLFI_BY_FILES)                                                                       \
    X(CLFI_MODEL_CONFIG, "transformers.js_config", HARMLESS, CLFI_BY_FILES)                                                                \
    X(CLFI_MODEL_CONFIG, "pretraining_tp", HARMLESS, CLFI_BY_FILES)                                                                        \
    X(CLFI_MODEL_CONFIG, "initializer_range", HARMLESS, CLFI_BY_TRAINING)                                                                  \
    X(CLFI_MODEL_CONFIG, "initializer_cutoff_factor", HARMLESS, CLFI_BY_TRAINING)                                                          \
    X(CLFI_MODEL_CONFIG, "hidden_dropout_prob", HARMLESS, CLFI_BY_TRAINING)                                                                \
    X(CLFI_MODEL_CONFIG, "attention_probs_dropout_prob", HARMLESS, CLFI_BY_TRAINING)                                                       \
    X(CLFI_MODEL_CONFIG, "classifier_dropout", HARMLESS, CLFI_BY_TRAINING)                                                                 \
    X(CLFI_MODEL_CONFIG, "dropout", HARMLESS, CLFI_BY_TRAINING)                                                                            \
    X(CLFI_MODEL_CONFIG, "attention_dropout", HARMLESS, CLFI_BY_TRAINING)                                                                  \
    X(CLFI_MODEL_CONFIG, "qa_dropout", HARMLESS, CLFI_BY_TRAINING)                                                                         \
    X(CLFI_MODEL_CONFIG, "seq_classif_dropout", HARMLESS, CLFI_BY_TRAINING)                                                                \
    X(CLFI_MODEL_CONFIG, "embedding_dropout", HARMLESS, CLFI_BY_TRAINING)                                                                  \
    X(CLFI_MODEL_CONFIG, "mlp_dropout", HARMLESS, CLFI_BY_TRAINING)                                                                        \
    X(CLFI_MODEL_CONFIG, "attn_pdrop", HARMLESS, CLFI_BY_TRAINING)                                                                         \
    X(CLFI_MODEL_CONFIG, "embd_pdrop", HARMLESS, CLFI_BY_TRAINING)                                                                         \
    X(CLFI_MODEL_CONFIG, "resid_pdrop", HARMLESS, CLFI_BY_TRAINING)                                                                        \
    X(CLFI_MODEL_CONFIG, "finetuning_task", HARMLESS, CLFI_BY_TRAINING)                                                                    \
    X(CLFI_MODEL_CONFIG, "task_specific_params", HARMLESS, CLFI_BY_TRAINING)                                                               \
    X(CLFI_MODEL_CONFIG, "label2id", HARMLESS, CLFI_BY_TRAINING)                                                                           \
    X(CLFI_MODEL_CONFIG, "num_labels", HARMLESS, CLFI_BY_TRAINING)                                                                         \
    X(CLFI_MODEL_CONFIG, "tie_word_embeddings", HARMLESS, CLFI_BY_TRAINING)                                                                \
    X(CLFI_MODEL_CONFIG, "tie_weights_", HARMLESS, CLFI_BY_TRAINING)                                                                       \
    X(CLFI_MODEL_CONFIG, "decoder_bias", HARMLESS, CLFI_BY_TRAINING)                                                                       \
    X(CLFI_MODEL_CONFIG, "sparse_prediction", HARMLESS, CLFI_BY_TRAINING)                                                                  \
    X(CLFI_MODEL_CONFIG, "sparse_pred_ignore_index", HARMLESS, CLFI_BY_TRAINING)                                                           \
    X(CLFI_MODEL_CONFIG, "pooler_fc_size", HARMLESS, CLFI_BY_TRAINING)                                                                     \
    X(CLFI_MODEL_CONFIG, "pooler_num_attention_heads", HARMLESS, CLFI_BY_TRAINING)                                                         \
    X(CLFI_MODEL_CONFIG, "pooler_num_fc_layers", HARMLESS, CLFI_BY_TRAINING)                                                               \
    X(CLFI_MODEL_CONFIG, "pooler_size_per_head", HARMLESS, CLFI_BY_TRAINING)                                                               \
    X(CLFI_MODEL_CONFIG, "pooler_type", HARMLESS, CLFI_BY_TRAINING)                                                                        \
    X(CLFI_MODEL_CONFIG, "directionality", HARMLESS, CLFI_BY_TRAINING)                                                                     \
    X(CLFI_MODEL_CONFIG, "summary_activation", HARMLESS, CLFI_BY_TRAINING)                                                                 \
    X(CLFI_MODEL_CONFIG, "summary_first_dropout", HARMLESS, CLFI_BY_TRAINING)                                                              \
    X(CLFI_MODEL_CONFIG, "summary_proj_to_labels", HARMLESS, CLFI_BY_TRAINING)                                                             \
    X(CLFI_MODEL_CONFIG, "summary_type", HARMLESS, CLFI_BY_TRAINING)                                                                       \
    X(CLFI_MODEL_CONFIG, "summary_use_proj", HARMLESS, CLFI_BY_TRAINING)                                                                   \
    X(CLFI_MODEL_CONFIG, "max_trained_positions", HARMLESS, CLFI_BY_TRAINING)                                                              \
    X(CLFI_MODEL_CONFIG, "activation_dropout", HARMLESS, CLFI_BY_TRAINING)                                                                 \
    X(CLFI_MODEL_CONFIG, "classif_dropout", HARMLESS, CLFI_BY_TRAINING)                                                                    \
    X(CLFI_MODEL_CONFIG, "dropout_rate", HARMLESS, CLFI_BY_TRAINING)                                                                       \
    X(CLFI_MODEL_CONFIG, "encoder_layerdrop", HARMLESS, CLFI_BY_TRAINING)                                                                  \
    X(CLFI_MODEL_CONFIG, "decoder_layerdrop", HARMLESS, CLFI_BY_TRAINING)                                                                  \
    X(CLFI_MODEL_CONFIG, "init_std", HARMLESS, CLFI_BY_TRAINING)                                                                           \
    X(CLFI_MODEL_CONFIG, "initializer_factor", HARMLESS, CLFI_BY_TRAINING)                                                                 \
    X(CLFI_MODEL_CONFIG, "bos_token_id", HARMLESS, CLFI_BY_TOKENS)                                                                         \
    X(CLFI_MODEL_CONFIG, "eos_token_id", HARMLESS, CLFI_BY_TOKENS)                                                                         \
    X(CLFI_MODEL_CONFIG, "cls_token_id", HARMLESS, CLFI_BY_TOKENS)                                                                         \
    X(CLFI_MODEL_CONFIG, "sep_token_id", HARMLESS, CLFI_BY_TOKENS)                                                                         \
    X(CLFI_MODEL_CONFIG, "mask_token_id", HARMLESS, CLFI_BY_TOKENS)                                                                        \
    X(CLFI_MODEL_CONFIG, "pad_token_id", HARMLESS, CLFI_BY_TOKENS)                                                                         \
    X(CLFI_MODEL_CONFIG, "unk_token_id", HARMLESS, CLFI_BY_TOKENS)                                                                         \
    X(CLFI_MODEL_CONFIG, "attention_bias", HARMLESS, CLFI_BY_TENSORS)                                                                      \
    X(CLFI_MODEL_CONFIG, "mlp_bias", HARMLESS, CLFI_BY_TENSORS)                                                                            \
    X(CLFI_MODEL_CONFIG, "norm_bias", HARMLESS, CLFI_BY_TENSORS)                                                                           \
    X(CLFI_MODEL_CONFIG, "classifier_bias", HARMLESS, CLFI_BY_TENSORS)                                                                     \
    X(CLFI_MODEL_CONFIG, "qkv_proj_bias", HARMLESS, CLFI_BY_TENSORS)                                                                       \
    X(CLFI_MODEL_CONFIG, "mlp_fc1_bias", HARMLESS, CLFI_BY_TENSORS)                                                                        \
    X(CLFI_MODEL_CONFIG, "mlp_fc2_bias", HARMLESS, CLFI_BY_TENSORS)                                                                        \
    X(CLFI_MODEL_CONFIG, "sinusoidal_pos_embds", HARMLESS, CLFI_BY_TENSORS)                                                                \
    X(CLFI_MODEL_CONFIG, "position_embedding_type", HARMLESS, CLFI_BY_TENSORS)                                                             \
    X(CLFI_MODEL_CONFIG, "head_dim", HARMLESS, CLFI_BY_TENSORS)                                                                            \
    X(CLFI_MODEL_CONFIG, "_sliding_window_pattern", HARMLESS, CLFI_BY_KEYS)                                                                \
    X(CLFI_MODEL_CONFIG, "original_max_position_embeddings", HARMLESS, CLFI_BY_KEYS)                                                       \
    X(CLFI_MODEL_CONFIG, "vision_config", HARMLESS, CLFI_BY_PICTURES)                                                                      \
    X(CLFI_MODEL_CONFIG, "mm_tokens_per_image", HARMLESS, CLFI_BY_PICTURES)                                                                \
    X(CLFI_MODEL_CONFIG, "image_token_index", HARMLESS, CLFI_BY_PICTURES)                                                                  \
    X(CLFI_MODEL_CONFIG, "boi_token_index", HARMLESS, CLFI_BY_PICTURES)                                                                    \
    X(CLFI_MODEL_CONFIG, "eoi_token_index", HARMLESS, CLFI_BY_PICTURES)                                                                    \
    X(CLFI_MODEL_CONFIG, "temperature", HARMLESS, CLFI_BY_CHOICE)                                                                          \
    X(CLFI_MODEL_CONFIG, "top_k", HARMLESS, CLFI_BY_CHOICE)                                                                                \
    X(CLFI_MODEL_CONFIG, "top_p", HARMLESS, CLFI_BY_CHOICE)                                                                                \
    X(CLFI_MODEL_CONFIG, "do_sample", HARMLESS, CLFI_BY_CHOICE)                                                                            \
    X(CLFI_MODEL_CONFIG, "max_length", HARMLESS, CLFI_BY_CHOICE)                                                                           \
    X(CLFI_ACCOUNT_GENERATION, "eos_token_id", FOLLOWED, CLFI_BY_DECODING)                                                                 \
    X(CLFI_ACCOUNT_GENERATION, "bos_token_id", FOLLOWED, CLFI_BY_DECODING)                                                                 \
    X(CLFI_ACCOUNT_GENERATION, "pad_token_id", FOLLOWED, CLFI_BY_DECODING)                                                                 \
    X(CLFI_ACCOUNT_GENERATION, "decoder_start_token_id", FOLLOWED, CLFI_BY_DECODING)                                                       \
    X(CLFI_ACCOUNT_GENERATION, "forced_bos_token_id", FOLLOWED, CLFI_BY_DECODING)                                                          \
    X(CLFI_ACCOUNT_GENERATION, "forced_eos_token_id", FOLLOWED, CLFI_BY_DECODING)                                                          \
    X(CLFI_ACCOUNT_GENERATION, "bad_words_ids", FOLLOWED, CLFI_BY_DECODING)                                                                \
    X(CLFI_ACCOUNT_GENERATION, "min_length", FOLLOWED, CLFI_BY_DECODING)                                                                   \
    X(CLFI_ACCOUNT_GENERATION, "suppress_tokens", FOLLOWED, CLFI_BY_DECODING)                                                              \
    X(CLFI_ACCOUNT_GENERATION, "begin_suppress_tokens", FOLLOWED, CLFI_BY_DECODING)                                                        \
    X(CLFI_ACCOUNT_GENERATION, "num_beams", FOLLOWED, CLFI_BY_DECODING)                                                                    \
    X(CLFI_ACCOUNT_GENERATION, "length_penalty", FOLLOWED, CLFI_BY_DECODING)                                                               \
    X(CLFI_ACCOUNT_GENERATION, "no_repeat_ngram_size", FOLLOWED, CLFI_BY_DECODING)                                                         \
    X(CLFI_ACCOUNT_GENERATION, "early_stopping", FOLLOWED, CLFI_BY_DECODING)                                                               \
    X(CLFI_ACCOUNT_GENERATION, "transformers_version", FOLLOWED, CLFI_BY_DECODING)                                                         \
    X(CLFI_ACCOUNT_GENERATION, "min_new_tokens", FOLLOWED, CLFI_BY_DECODING)                                                               \
    X(CLFI_ACCOUNT_GENERATION, "repetition_penalty", FOLLOWED, CLFI_BY_DECODING)                                                           \
    X(CLFI_ACCOUNT_GENERATION, "renormalize_logits", FOLLOWED, CLFI_BY_DECODING)                                                           \
    X(CLFI_ACCOUNT_GENERATION, "_from_model_config", FOLLOWED, CLFI_BY_DECODING)                                                           \
    X(CLFI_ACCOUNT_GENERATION, "use_cache", FOLLOWED, CLFI_BY_DECODING)                                                                    \
    X(CLFI_TRANSFORMER_SETTINGS, "max_seq_length", FOLLOWED, "where longer texts are cut")                                                 \
    X(CLFI_TRANSFORMER_SETTINGS, "do_lower_case", FOLLOWED, "read by tokenizer_open.c")                                                    \
    X(CLFI_TRANSFORMER_SETTINGS, "transformer_task", FOLLOWED, CLFI_BY_SETTINGS)                                                           \
    X(CLFI_TRANSFORMER_SETTINGS, "module_output_name", FOLLOWED, CLFI_BY_SETTINGS)                                                         \
    X(CLFI_TRANSFORMER_SETTINGS, "modality_config", FOLLOWED, CLFI_BY_SETTINGS)                                                            \
    X(CLFI_TRANSFORMER_SETTINGS, "config_kwargs", FOLLOWED, "goes before config.json, key by key")                                         \
    X(CLFI_TRANSFORMER_SETTINGS, "config_args", FOLLOWED, "config_kwargs by its older name")                                               \
    X(CLFI_TRANSFORMER_SETTINGS, "model_kwargs", FOLLOWED, CLFI_BY_SETTINGS)                                                               \
    X(CLFI_TRANSFORMER_SETTINGS, "model_args", FOLLOWED, "model_kwargs by its older name")                                                 \
    X(CLFI_TRANSFORMER_SETTINGS, "processor_kwargs", FOLLOWED, CLFI_BY_SETTINGS)                                                           \
    X(CLFI_TRANSFORMER_SETTINGS, "tokenizer_args", FOLLOWED, "processor_kwargs by its older name")                                         \
    X(CLFI_TRANSFORMER_SETTINGS, "processing_kwargs", FOLLOWED, CLFI_BY_SETTINGS)                                                          \
    X(CLFI_TRANSFORMER_SETTINGS, "unpad_inputs", HARMLESS, "how texts lie side by side; each is computed as if alone")                     \
    X(CLFI_TRANSFORMER_SETTINGS, "query_length", REFUSED,                                                                                  \
      "queries of another length than documents are not built (leave the key out, and both are cut at max_seq_length)")                    \
    X(CLFI_TRANSFORMER_SETTINGS, "document_length", REFUSED,                                                                               \
      "documents of another length than queries are not built (leave the key out, and both are cut at max_seq_length)")                    \
    X(CLFI_TRANSFORMER_SETTINGS, "query_expansion", REFUSED, "queries that are filled up with masks are not built")                        \
    X(CLFI_TRANSFORMER_SETTINGS, "tokenizer_name_or_path", REFUSED,                                                                        \
      "a tokenizer of another model is not looked for (copy its files into the directory and leave the key out)")                          \
    X(CLFI_ACCOUNT_MODEL_ARGUMENTS, "torch_dtype", HARMLESS, CLFI_BY_RUNNING)                                                              \
    X(CLFI_ACCOUNT_MODEL_ARGUMENTS, "dtype", HARMLESS, CLFI_BY_RUNNING)                                                                    \
    X(CLFI_ACCOUNT_MODEL_ARGUMENTS, "attn_implementation", HARMLESS, CLFI_BY_RUNNING)                                                      \
    X(CLFI_ACCOUNT_MODEL_ARGUMENTS, "device_map", HARMLESS, CLFI_BY_RUNNING)                                                               \
    X(CLFI_ACCOUNT_MODEL_ARGUMENTS, "low_cpu_mem_usage", HARMLESS, CLFI_BY_RUNNING)                                                        \
    X(CLFI_ACCOUNT_MODEL_ARGUMENTS, "use_safetensors", HARMLESS, CLFI_BY_RUNNING)                                                          \
    X(CLFI_ACCOUNT_MODEL_ARGUMENTS, "use_kernels", HARMLESS, CLFI_BY_RUNNING)                                                              \
    X(CLFI_ACCOUNT_MODEL_ARGUMENTS, "trust_remote_code", HARMLESS, CLFI_BY_RUNNING)                                                        \
    X(CLFI_ACCOUNT_MODEL_ARGUMENTS, "add_pooling_layer", HARMLESS, "a layer whose output sentence-transformers does not use")              \
    X(CLFI_ACCOUNT_MODEL_ARGUMENTS, "*", REFUSED, "what it changes in the network is not built (leave the key out if it changes nothing)") \
    X(CLFI_ACCOUNT_TOKENIZER_ARGUMENTS, "model_max_length", FOLLOWED, "where longer texts are cut; goes before max_seq_length")            \
    X(CLFI_ACCOUNT_TOKENIZER_ARGUMENTS, "use_fast", HARMLESS, "which program cuts texts, or how tokens become text again")                 \
    X(CLFI_ACCOUNT_TOKENIZER_ARGUMENTS, "trust_remote_code", HARMLESS, "which program cuts texts, or how tokens become text again")        \
    X(CLFI_ACCOUNT_TOKENIZER_ARGUMENTS, "clean_up_tokenization_spaces", HARMLESS,                                                          \
      "which program cuts texts, or how tokens become text again")                                                                         \
    X(CLFI_ACCOUNT_TOKENIZER_ARGUMENTS, "*", REFUSED, "expected in tokenizer_config.json, which is followed (move the key there)")         \
    X(CLFI_ACCOUNT_CONFIG_ARGUMENTS, "model_type", REFUSED, "expected in config.json, which is followed (change the key there)")           \
    X(CLFI_ACCOUNT_CONFIG_ARGUMENTS, "num_labels", REFUSED, "expected in config.json, which is followed (change the key there)")           \
    X(CLFI_ACCOUNT_CONFIG_ARGUMENTS, "id2label", REFUSED, "expected in config.json, which is followed (change the key there)")             \
    X(CLFI_ACCOUNT_CONFIG_ARGUMENTS, "label2id", REFUSED, "expected in config.json, which is followed (change the key there)")             \
    X(CLFI_ACCOUNT_CONFIG_ARGUMENTS, "trust_remote_code", HARMLESS, CLFI_BY_RUNNING)                                                       \
    X(CLFI_ACCOUNT_CONFIG_ARGUMENTS, "*", FOLLOWED, "goes before config.json's key, if the family reads that")                             \
    X(CLFI_ACCOUNT_PROCESSING, "text", FOLLOWED, CLFI_BY_SETTINGS)                                                                         \
    X(CLFI_ACCOUNT_PROCESSING, "common", FOLLOWED, CLFI_BY_SETTINGS)                                                                       \
    X(CLFI_ACCOUNT_PROCESSING, "audio", HARMLESS, CLFI_BY_PICTURES)                                                                        \
    X(CLFI_ACCOUNT_PROCESSING, "image", HARMLESS, CLFI_BY_PICTURES)                                                                        \
    X(CLFI_ACCOUNT_PROCESSING, "video", HARMLESS, CLFI_BY_PICTURES)                                                                        \
    X(CLFI_ACCOUNT_PROCESSING, "chat_template", HARMLESS, "of messages; a text is none")                                                   \
    X(CLFI_ACCOUNT_PROCESSING, "*", HARMLESS, "sentence-transformers ignores it")                                                          \
    X(CLFI_ACCOUNT_TEXT, "max_length", FOLLOWED, "where longer texts are cut; goes before all other lengths")                              \
    X(CLFI_ACCOUNT_TEXT, "logits_to_keep", HARMLESS, "of causal models' logits")                                                           \
    X(CLFI_ACCOUNT_TEXT, "truncation", HARMLESS, "true, as without the key; false is refused")                                             \
    X(CLFI_ACCOUNT_TEXT, "add_special_tokens", HARMLESS, "true, as without the key; false is refused")                                     \
    X(CLFI_ACCOUNT_TEXT, "padding", HARMLESS, "how texts lie side by side; each is computed as if alone")                                  \
    X(CLFI_ACCOUNT_TEXT, "return_tensors", HARMLESS, "how texts lie side by side; each is computed as if alone")                           \
    X(CLFI_ACCOUNT_TEXT, "return_attention_mask", HARMLESS, "how texts lie side by side; each is computed as if alone")                    \
    X(CLFI_ACCOUNT_TEXT, "pad_to_multiple_of", HARMLESS, "how texts lie side by side; each is computed as if alone")                       \
    X(CLFI_ACCOUNT_TEXT, "*", REFUSED, "how texts are cut into tokens is followed in tokenizer_config.json alone")                         \
    X(CLFI_ACCOUNT_COMMON, "truncation", HARMLESS, "true, as without the key; false is refused")                                           \
    X(CLFI_ACCOUNT_COMMON, "add_special_tokens", HARMLESS, "true, as without the key; false is refused")                                   \
    X(CLFI_ACCOUNT_COMMON, "padding", HARMLESS, "how texts lie side by side; each is computed as if alone")                                \
    X(CLFI_ACCOUNT_COMMON, "return_tensors", HARMLESS, "how texts lie side by side; each is computed as if alone")                         \
    X(CLFI_ACCOUNT_COMMON, "return_attention_mask", HARMLESS, "how texts lie side by side; each is computed as if alone")                  \
    X(CLFI_ACCOUNT_COMMON, "pad_to_multiple_of", HARMLESS, "how texts lie side by side; each is computed as if alone")                     \
    X(CLFI_ACCOUNT_COMMON, "*", REFUSED, "how texts are cut into tokens is followed in tokenizer_config.json alone")                       \
    X(CLFI_ACCOUNT_MODALITIES, "text", FOLLOWED, CLFI_BY_SETTINGS)                                                                         \
    X(CLFI_ACCOUNT_MODALITIES, "*", HARMLESS, CLFI_BY_PICTURES)                                                                            \
    X("Pooling/config.json", "pooling_mode", FOLLOWED, CLFI_BY_MODULE)                                                                     \
    X("Pooling/config.json", "pooling_mode_cls_token", FOLLOWED, CLFI_BY_MODULE)                                                           \
    X("Pooling/config.json", "pooling_mode_max_tokens", FOLLOWED, CLFI_BY_MODULE)                                                          \
    X("Pooling/config.json", "pooling_mode_mean_tokens", FOLLOWED, CLFI_BY_MODULE)                                                         \
    X("Pooling/config.json", "pooling_mode_mean_sqrt_len_tokens", FOLLOWED, CLFI_BY_MODULE)                                                \
    X("Pooling/config.json", "pooling_mode_weightedmean_tokens", FOLLOWED, CLFI_BY_MODULE)                                                 \
    X("Pooling/config.json", "pooling_mode_lasttoken", FOLLOWED, CLFI_BY_MODULE)                                                           \
    X("Pooling/config.json", "include_prompt", FOLLOWED, CLFI_BY_MODULE)                                                                   \
    X("Pooling/config.json", "word_embedding_dimension", HARMLESS, CLFI_BY_WIDTH)                                                          \
    X("Pooling/config.json", "embedding_dimension", HARMLESS, CLFI_BY_WIDTH)                                                               \
    X("Dense/config.json", "in_features", FOLLOWED, CLFI_BY_MODULE)                                                                        \
    X("Dense/config.json", "out_features", FOLLOWED, CLFI_BY_MODULE)                                                                       \
    X("Dense/config.json", "bias", FOLLOWED, CLFI_BY_MODULE)                                                                               \
    X("Dense/config.json", "activation_function", FOLLOWED, CLFI_BY_MODULE)                                                                \
    X("Dense/config.json", "use_residual", FOLLOWED, CLFI_BY_MODULE)                                                                       \
    X("Dense/config.json", "module_input_name", FOLLOWED, CLFI_BY_MODULE)                                                                  \
    X("Dense/config.json", "module_output_name", FOLLOWED, CLFI_BY_MODULE)                                                                 \
    X("LayerNorm/config.json", "dimension", FOLLOWED, CLFI_BY_MODULE)                                                                      \
    X("Normalize/config.json", "module_input_name", FOLLOWED, CLFI_BY_MODULE)                                                              \
    X("Dropout/config.json", "*", HARMLESS, CLFI_BY_TRAINING)                                                                              \
    X(CLFI_SENTENCE_SETTINGS, "__version__", HARMLESS, CLFI_BY_FILES)                                                                      \
    X(CLFI_SENTENCE_SETTINGS, "requirements", HARMLESS, CLFI_BY_FILES)                                                                     \
    X(CLFI_SENTENCE_SETTINGS, "keep_in_fp32_modules", HARMLESS, CLFI_BY_FILES)                                                             \
    X(CLFI_ADAPTER_CONFIG, "", FOLLOWED, "a LoRA adapter is merged as the weights are loaded")                                             \
    X(CLFI_ADAPTER_WEIGHTS, "", FOLLOWED, "a LoRA adapter is merged as the weights are loaded")                                            \
    X("preprocessor_config.json", "", HARMLESS, CLFI_BY_PICTURES)                                                                          \
    X("processor_config.json", "", HARMLESS, CLFI_BY_PICTURES)                                                                             \
    X("video_preprocessor_config.json", "", HARMLESS, CLFI_BY_PICTURES)                                                                    \
    X("image_processor_config.json", "", HARMLESS, CLFI_BY_PICTURES)                                                                       \
    X("pytorch_model*.bin", "", HARMLESS, CLFI_BY_PICKLE)                                                                                  \
    X("pytorch_model.bin.index.json", "", HARMLESS, CLFI_BY_PICKLE)                                                                        \
    X("*.pt", "", HARMLESS, CLFI_BY_PICKLE)                                                                                                \
    X("*.pth", "", HARMLESS, CLFI_BY_PICKLE)                                                                                               \
    X("onnx", "", HARMLESS, CLFI_BY_OTHER_FORM)                                                                                            \
    X("openvino", "", HARMLESS, CLFI_BY_OTHER_FORM)                                                                                        \
    X("coreml", "", HARMLESS, CLFI_BY_OTHER_FORM)                                                                                          \
    X("*.onnx", "", HARMLESS, CLFI_BY_OTHER_FORM)                                                                                          \
    X("*.h5", "", HARMLESS, CLFI_BY_OTHER_FORM)                                                                                            \
    X("*.ot", "", HARMLESS, CLFI_BY_OTHER_FORM)                                                                                            \
    X("*.msgpack", "", HARMLESS, CLFI_BY_OTHER_FORM)                                                                                       \
    X("rust_model.ot", "", HARMLESS, CLFI_BY_OTHER_FORM)                                                                                   \
    X("README*", "", HARMLESS, CLFI_BY_CARD)                                                                                               \
    X("LICENSE*", "", HARMLESS, CLFI_BY_CARD)                                                                                              \
    X("*.md", "", HARMLESS, CLFI_BY_CARD)                                                                                                  \
    X(".gitattributes", "", HARMLESS, CLFI_BY_CARD)

#endif
