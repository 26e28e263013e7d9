/* SPDX-License-Identifier: MIT */
/* The rows of the table of known files and keys (directory_account.h): what transformers 5, sentence-transformers 6 and tokenizers read
 * from a model's directory. */
#include "base/alloc.h"
#include "io/adapter_directory.h"
#include "io/checkpoint.h"
#include "io/model_directory.h"
#include "model/directory_account.h"
#include "model/sentence_settings.h"

static const char by_family[] = "read by the family";
static const char by_alias[] = "another name of a key; its value must be the same";
static const char by_labels[] = "read by labels.c";
static const char by_class[] = "the tokenizer's software and class: read by tokenizer_software.c";
static const char by_files[] = "names files and programs, or how they keep numbers";
static const char by_training[] = "for training and for other tasks";
static const char by_tensors[] = "known from the stored tensors";
static const char by_biases[] = "compared with the stored biases by stored_biases.c";
static const char by_pictures[] = "for images and audio; only texts are read";
static const char by_running[] = "speed and memory of other programs; numbers are float32 here";
static const char by_settings[] = "read by transformer_settings.c";
static const char by_module[] = "read by sentence_config.c and sentence_head.c";
static const char by_tokenizer[] = "read by the tokenizer's class";
static const char by_batch[] = "layout of batches; each text is computed as if alone";
static const char by_pickle[] = "a pickle, which could run any program; the same weights are in model.safetensors";
static const char by_other_form[] = "the same network for another program";
static const char by_card[] = "describes the model to people";
static const char not_quantised[] = "weights of this kind are not supported (expected float32, float16 or bfloat16 in safetensors, or a "
                                    "GGUF file, which has quantised types)";
static const char not_cut[] = "settings of the tokenizer are followed only in tokenizer_config.json";
static const char not_false[] = "true is the default; false is refused";
static const char not_here[] = "expected in config.json, which is followed (change the key there)";

static const char encoders[] = "bert distilbert roberta xlm-roberta camembert nomic_bert modernbert";
static const char berts[] = "bert roberta xlm-roberta camembert mpnet nomic_bert";
static const char decoders[] = "llama mistral qwen2 qwen3 gemma gemma2 gemma3_text phi3";
static const char windowed[] = "mistral qwen2 qwen3 gemma2 gemma3_text phi3";

static const clf_account_row rows[] = {
    /* what each family reads */
    {CLFI_MODEL_CONFIG, berts, CLF_ACCOUNT_FOLLOWED, by_family,
     "hidden_size intermediate_size num_attention_heads num_hidden_layers vocab_size max_position_embeddings type_vocab_size "
     "layer_norm_eps position_embedding_type hidden_act is_decoder"},
    {CLFI_MODEL_CONFIG, "roberta xlm-roberta camembert", CLF_ACCOUNT_FOLLOWED, by_family, "pad_token_id"},
    {CLFI_MODEL_CONFIG, "mpnet", CLF_ACCOUNT_FOLLOWED, by_family, "relative_attention_num_buckets"},
    {CLFI_MODEL_CONFIG, "distilbert", CLF_ACCOUNT_FOLLOWED, by_family,
     "dim hidden_dim n_heads n_layers vocab_size max_position_embeddings activation"},
    {CLFI_MODEL_CONFIG, "modernbert", CLF_ACCOUNT_FOLLOWED, by_family,
     "hidden_size intermediate_size num_attention_heads num_hidden_layers vocab_size max_position_embeddings global_attn_every_n_layers "
     "layer_types hidden_activation norm_eps local_attention sliding_window global_rope_theta local_rope_theta rope_scaling "
     "rope_parameters original_max_position_embeddings"},
    {CLFI_MODEL_CONFIG, "nomic_bert", CLF_ACCOUNT_FOLLOWED, by_family,
     "n_embd n_inner n_head n_layer n_positions prenorm parallel_block use_rms_norm rotary_emb_interleaved causal scale_attn_weights "
     "scale_attn_by_inverse_layer_idx rotary_scaling_factor rotary_emb_scale_base activation_function rotary_emb_fraction "
     "rotary_emb_base layer_norm_epsilon rope_theta rope_scaling rope_parameters original_max_position_embeddings"},
    {CLFI_MODEL_CONFIG, "bart marian", CLF_ACCOUNT_FOLLOWED, by_family,
     "is_encoder_decoder is_decoder normalize_before add_final_layer_norm add_bias_logits normalize_embedding static_position_embeddings "
     "d_model encoder_ffn_dim encoder_attention_heads encoder_layers decoder_ffn_dim decoder_attention_heads decoder_layers vocab_size "
     "max_position_embeddings activation_function scale_embedding tie_word_embeddings is_causal"},
    {CLFI_MODEL_CONFIG, "marian", CLF_ACCOUNT_FOLLOWED, by_family, "share_encoder_decoder_embeddings decoder_vocab_size"},
    {CLFI_MODEL_CONFIG, "t5", CLF_ACCOUNT_FOLLOWED, by_family,
     "num_heads d_kv relative_attention_num_buckets relative_attention_max_distance feed_forward_proj is_gated_act dense_act_fn d_model "
     "d_ff num_layers num_decoder_layers vocab_size layer_norm_epsilon n_positions tie_word_embeddings scale_decoder_outputs is_causal"},
    {CLFI_MODEL_CONFIG, "encoder-decoder", CLF_ACCOUNT_FOLLOWED, by_family,
     "d_model d_ff heads encoder_layers decoder_layers max_source_length max_target_length layer_norm_eps activation norm positions gated "
     "final_norm source_tokens target_tokens"},
    {CLFI_MODEL_CONFIG, "gpt2", CLF_ACCOUNT_FOLLOWED, by_family,
     "n_embd n_inner n_head n_layer n_positions vocab_size hidden_size intermediate_size num_attention_heads num_hidden_layers "
     "max_position_embeddings activation_function layer_norm_epsilon tie_word_embeddings scale_attn_weights "
     "scale_attn_by_inverse_layer_idx add_cross_attention is_causal"},
    {CLFI_MODEL_CONFIG, decoders, CLF_ACCOUNT_FOLLOWED, by_family,
     "hidden_size intermediate_size num_attention_heads num_key_value_heads num_hidden_layers head_dim vocab_size max_position_embeddings "
     "rms_norm_eps tie_word_embeddings is_causal partial_rotary_factor rope_theta rope_scaling rope_parameters "
     "original_max_position_embeddings"},
    {CLFI_MODEL_CONFIG, decoders, CLF_ACCOUNT_REFUSED, "only in GGUF files: transformers ignores it (leave it out)",
     "rope_interleaved rope_frequency_factors norms_hold_one"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_REFUSED, "only in GGUF files: transformers ignores it (leave it out)", "repetition_window"},
    {CLFI_MODEL_CONFIG, "distilbert bart marian t5", CLF_ACCOUNT_FOLLOWED, by_alias, "hidden_size num_attention_heads num_hidden_layers"},
    {CLFI_MODEL_CONFIG, "t5", CLF_ACCOUNT_FOLLOWED, by_alias, "head_dim"},
    {CLFI_MODEL_CONFIG, "llama mistral qwen2 qwen3 gemma phi3", CLF_ACCOUNT_FOLLOWED, by_family, "hidden_act"},
    {CLFI_MODEL_CONFIG, windowed, CLF_ACCOUNT_FOLLOWED, by_family, "sliding_window layer_types"},
    {CLFI_MODEL_CONFIG, "llama gemma gpt2 bart marian t5", CLF_ACCOUNT_FOLLOWED, by_family, "sliding_window"},
    {CLFI_MODEL_CONFIG, "llama gemma gpt2 bart marian t5 mistral phi3", CLF_ACCOUNT_FOLLOWED, by_family, "attention_chunk_size"},
    {CLFI_MODEL_CONFIG, "qwen2 qwen3", CLF_ACCOUNT_FOLLOWED, by_family, "use_sliding_window max_window_layers"},
    {CLFI_MODEL_CONFIG, "gemma gemma2 gemma3_text", CLF_ACCOUNT_FOLLOWED, by_family, "hidden_activation use_bidirectional_attention"},
    {CLFI_MODEL_CONFIG, "gemma2 gemma3_text", CLF_ACCOUNT_FOLLOWED, by_family, "query_pre_attn_scalar final_logit_softcapping"},
    {CLFI_MODEL_CONFIG, "gemma2", CLF_ACCOUNT_FOLLOWED, by_family, "attn_logit_softcapping"},
    {CLFI_MODEL_CONFIG, "gemma3_text", CLF_ACCOUNT_FOLLOWED, by_family, "sliding_window_pattern rope_local_base_freq"},
    {CLFI_MODEL_CONFIG, encoders, CLF_ACCOUNT_REFUSED, "encoders with causal attention are not supported", "is_causal"},
    {CLFI_MODEL_CONFIG, "mpnet", CLF_ACCOUNT_HARMLESS, "MPNet's attention ignores it", "is_causal"},
    /* what every config.json may have */
    {CLFI_ACCOUNT_CLASSIFIER, NULL, CLF_ACCOUNT_FOLLOWED, by_labels,
     "architectures id2label num_labels problem_type sentence_transformers sbert_ce_default_activation_function"},
    {CLFI_ACCOUNT_CLASSIFIER, "modernbert", CLF_ACCOUNT_FOLLOWED, by_family, "classifier_pooling classifier_activation"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_FOLLOWED, by_family, "model_type"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_FOLLOWED, by_class, "transformers_version tokenizer_class"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_REFUSED, not_quantised, "quantization_config quantization compression_config"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_REFUSED,
     "weights in a file of another name are not supported (rename it to model.safetensors and leave the key out)", "transformers_weights"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_REFUSED, "layers with settings of their own are not supported", "per_layer_config"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_HARMLESS, by_files,
     "architectures trust_remote_code auto_map _name_or_path name_or_path torch_dtype dtype use_cache gradient_checkpointing "
     "chunk_size_feed_forward return_dict output_past output_attentions output_hidden_states torchscript is_encoder_decoder "
     "add_cross_attention deterministic_flash_attn reference_compile repad_logits_with_grad _attn_implementation use_flash_attn "
     "use_xentropy fused_bias_fc fused_dropout_add_ln pad_vocab_size_multiple dense_seq_output reorder_and_upcast_attn last_layer_subset "
     "n_ctx cache_implementation is_llama_config transformers.js_config pretraining_tp"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_HARMLESS, by_training,
     "initializer_range initializer_cutoff_factor hidden_dropout_prob attention_probs_dropout_prob classifier_dropout dropout "
     "attention_dropout qa_dropout seq_classif_dropout embedding_dropout mlp_dropout attn_pdrop embd_pdrop resid_pdrop finetuning_task "
     "task_specific_params label2id num_labels id2label problem_type classifier_pooling classifier_activation tie_word_embeddings "
     "tie_weights_ decoder_bias sparse_prediction sparse_pred_ignore_index pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers "
     "pooler_size_per_head pooler_type directionality summary_activation summary_first_dropout summary_proj_to_labels summary_type "
     "summary_use_proj max_trained_positions activation_dropout classif_dropout dropout_rate encoder_layerdrop decoder_layerdrop init_std "
     "initializer_factor sentence_transformers sbert_ce_default_activation_function"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_HARMLESS, "special tokens, which the tokenizer defines",
     "bos_token_id eos_token_id cls_token_id sep_token_id mask_token_id pad_token_id unk_token_id"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_HARMLESS, by_tensors, "sinusoidal_pos_embds position_embedding_type head_dim"},
    {CLFI_MODEL_CONFIG, "llama qwen3 gemma gemma2 gemma3_text modernbert", CLF_ACCOUNT_FOLLOWED, by_biases, "attention_bias"},
    {CLFI_MODEL_CONFIG, "llama modernbert", CLF_ACCOUNT_FOLLOWED, by_biases, "mlp_bias"},
    {CLFI_MODEL_CONFIG, "modernbert", CLF_ACCOUNT_FOLLOWED, by_biases, "norm_bias classifier_bias"},
    {CLFI_MODEL_CONFIG, "nomic_bert", CLF_ACCOUNT_FOLLOWED, by_biases, "qkv_proj_bias mlp_fc1_bias mlp_fc2_bias"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_HARMLESS, "transformers ignores it for this model_type",
     "attention_bias mlp_bias norm_bias classifier_bias qkv_proj_bias mlp_fc1_bias mlp_fc2_bias"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_HARMLESS, "known from other keys", "_sliding_window_pattern original_max_position_embeddings"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_HARMLESS, by_pictures,
     "vision_config mm_tokens_per_image image_token_index boi_token_index eoi_token_index"},
    {CLFI_MODEL_CONFIG, NULL, CLF_ACCOUNT_HARMLESS, "sampling: generation_config.json decides",
     "temperature top_k top_p do_sample max_length"},
    /* the methods that transformers 5 knows */
    {CLFI_ACCOUNT_QUANTIZATION, NULL, CLF_ACCOUNT_REFUSED, not_quantised,
     "bitsandbytes gptq awq aqlm vptq quanto eetq higgs hqq compressed-tensors fbgemm_fp8 torchao bitnet spqr fp8 quark fp_quant "
     "auto-round "
     "mxfp4 nvfp4 mxfp8 metal fouroversix sinq gemma modelopt"},
    {CLFI_ACCOUNT_QUANTIZATION, NULL, CLF_ACCOUNT_REFUSED, "expected the GGUF file itself", "gguf"},
    {CLFI_ACCOUNT_QUANTIZATION, NULL, CLF_ACCOUNT_REFUSED,
     "an unknown method (expected weights in float32, float16 or bfloat16, or a GGUF file)", "*"},
    {CLFI_ACCOUNT_GENERATION, NULL, CLF_ACCOUNT_FOLLOWED, "read by generation_config.c",
     "eos_token_id bos_token_id decoder_start_token_id forced_bos_token_id forced_eos_token_id bad_words_ids min_length suppress_tokens "
     "begin_suppress_tokens num_beams length_penalty no_repeat_ngram_size early_stopping min_new_tokens repetition_penalty "
     "renormalize_logits"},
    {CLFI_ACCOUNT_GENERATION, NULL, CLF_ACCOUNT_HARMLESS, "has no effect on texts",
     "pad_token_id transformers_version _from_model_config use_cache"},
    {CLFI_ACCOUNT_GENERATION, NULL, CLF_ACCOUNT_HARMLESS, by_running,
     "cache_implementation cache_config compile_config disable_compile low_memory max_cache_len prefill_chunk_size "
     "continuous_batching_config num_assistant_tokens num_assistant_tokens_schedule assistant_confidence_threshold "
     "assistant_early_exit assistant_lookbehind assistant_ensemble_weight target_lookbehind is_assistant prompt_lookup_num_tokens "
     "max_matching_ngram_size speculation_type use_mtp"},
    {CLFI_ACCOUNT_GENERATION, NULL, CLF_ACCOUNT_HARMLESS, "other results beside a text",
     "output_attentions output_hidden_states output_scores output_logits return_dict_in_generate"},
    {CLFI_ACCOUNT_GENERATION, NULL, CLF_ACCOUNT_HARMLESS, "scores that are no numbers end a text with an error", "remove_invalid_values"},
    /* sentence_bert_config.json and the objects inside */
    {CLFI_TRANSFORMER_SETTINGS, NULL, CLF_ACCOUNT_FOLLOWED, "length at which texts are cut", "max_seq_length"},
    {CLFI_TRANSFORMER_SETTINGS, NULL, CLF_ACCOUNT_FOLLOWED, "read by tokenizer_open.c", "do_lower_case"},
    {CLFI_TRANSFORMER_SETTINGS, NULL, CLF_ACCOUNT_FOLLOWED, by_settings,
     "transformer_task module_output_name modality_config model_kwargs processor_kwargs processing_kwargs"},
    {CLFI_TRANSFORMER_SETTINGS, NULL, CLF_ACCOUNT_FOLLOWED, "overrides config.json, key by key", "config_kwargs"},
    {CLFI_TRANSFORMER_SETTINGS, NULL, CLF_ACCOUNT_FOLLOWED, "an older name", "config_args model_args tokenizer_args"},
    {CLFI_TRANSFORMER_SETTINGS, NULL, CLF_ACCOUNT_HARMLESS, by_batch, "unpad_inputs"},
    {CLFI_TRANSFORMER_SETTINGS, NULL, CLF_ACCOUNT_REFUSED,
     "different lengths of queries and documents are not supported (without the key both are cut at max_seq_length)",
     "query_length document_length"},
    {CLFI_TRANSFORMER_SETTINGS, NULL, CLF_ACCOUNT_REFUSED, "queries padded with mask tokens are not supported", "query_expansion"},
    {CLFI_TRANSFORMER_SETTINGS, NULL, CLF_ACCOUNT_REFUSED,
     "the tokenizer of another model is not supported (copy its files into the directory and leave the key out)", "tokenizer_name_or_path"},
    {CLFI_ACCOUNT_MODEL_ARGUMENTS, NULL, CLF_ACCOUNT_HARMLESS, by_running,
     "torch_dtype dtype attn_implementation device_map low_cpu_mem_usage use_safetensors use_kernels trust_remote_code"},
    {CLFI_ACCOUNT_MODEL_ARGUMENTS, NULL, CLF_ACCOUNT_HARMLESS, "a layer whose output sentence-transformers ignores", "add_pooling_layer"},
    {CLFI_ACCOUNT_MODEL_ARGUMENTS, NULL, CLF_ACCOUNT_REFUSED,
     "its change of the network is not supported (leave the key out if it changes nothing)", "*"},
    {CLFI_ACCOUNT_TOKENIZER_ARGUMENTS, NULL, CLF_ACCOUNT_FOLLOWED, "length at which texts are cut; overrides max_seq_length",
     "model_max_length"},
    {CLFI_ACCOUNT_TOKENIZER_ARGUMENTS, NULL, CLF_ACCOUNT_HARMLESS, "choice of the tokenizer program, or of how tokens become text again",
     "use_fast trust_remote_code clean_up_tokenization_spaces"},
    {CLFI_ACCOUNT_TOKENIZER_ARGUMENTS, NULL, CLF_ACCOUNT_REFUSED,
     "expected in tokenizer_config.json, which is followed (move the key there)", "*"},
    {CLFI_ACCOUNT_CONFIG_ARGUMENTS, NULL, CLF_ACCOUNT_REFUSED, not_here, "model_type num_labels id2label label2id"},
    {CLFI_ACCOUNT_CONFIG_ARGUMENTS, NULL, CLF_ACCOUNT_HARMLESS, by_running, "trust_remote_code"},
    {CLFI_ACCOUNT_CONFIG_ARGUMENTS, NULL, CLF_ACCOUNT_FOLLOWED, "overrides config.json's key, if the family reads that", "*"},
    {CLFI_ACCOUNT_PROCESSING, NULL, CLF_ACCOUNT_FOLLOWED, by_settings, "text common"},
    {CLFI_ACCOUNT_PROCESSING, NULL, CLF_ACCOUNT_HARMLESS, by_pictures, "audio image video"},
    {CLFI_ACCOUNT_PROCESSING, NULL, CLF_ACCOUNT_HARMLESS, "for messages, not for texts", "chat_template"},
    {CLFI_ACCOUNT_PROCESSING, NULL, CLF_ACCOUNT_HARMLESS, "sentence-transformers ignores it", "*"},
    {CLFI_ACCOUNT_TEXT, NULL, CLF_ACCOUNT_FOLLOWED, "length at which texts are cut; overrides all other lengths", "max_length"},
    {CLFI_ACCOUNT_TEXT, NULL, CLF_ACCOUNT_HARMLESS, "for logits of causal models", "logits_to_keep"},
    {CLFI_ACCOUNT_TEXT, NULL, CLF_ACCOUNT_HARMLESS, not_false, "truncation add_special_tokens"},
    {CLFI_ACCOUNT_TEXT, NULL, CLF_ACCOUNT_HARMLESS, by_batch, "padding return_tensors return_attention_mask pad_to_multiple_of"},
    {CLFI_ACCOUNT_TEXT, NULL, CLF_ACCOUNT_REFUSED, not_cut, "*"},
    {CLFI_ACCOUNT_COMMON, NULL, CLF_ACCOUNT_HARMLESS, not_false, "truncation add_special_tokens"},
    {CLFI_ACCOUNT_COMMON, NULL, CLF_ACCOUNT_HARMLESS, by_batch, "padding return_tensors return_attention_mask pad_to_multiple_of"},
    {CLFI_ACCOUNT_COMMON, NULL, CLF_ACCOUNT_REFUSED, not_cut, "*"},
    {CLFI_ACCOUNT_MODALITIES, NULL, CLF_ACCOUNT_FOLLOWED, by_settings, "text"},
    {CLFI_ACCOUNT_MODALITIES, NULL, CLF_ACCOUNT_HARMLESS, by_pictures, "*"},
    /* the other modules, by their class */
    {"Pooling/config.json", NULL, CLF_ACCOUNT_FOLLOWED, by_module,
     "pooling_mode pooling_mode_cls_token pooling_mode_max_tokens pooling_mode_mean_tokens pooling_mode_mean_sqrt_len_tokens "
     "pooling_mode_weightedmean_tokens pooling_mode_lasttoken include_prompt"},
    {"Pooling/config.json", NULL, CLF_ACCOUNT_HARMLESS, "known from the network", "word_embedding_dimension embedding_dimension"},
    {"Dense/config.json", NULL, CLF_ACCOUNT_FOLLOWED, by_module,
     "in_features out_features bias activation_function use_residual module_input_name module_output_name"},
    {"LayerNorm/config.json", NULL, CLF_ACCOUNT_FOLLOWED, by_module, "dimension"},
    {"Normalize/config.json", NULL, CLF_ACCOUNT_FOLLOWED, by_module, "module_input_name module_output_name"},
    {"Dropout/config.json", NULL, CLF_ACCOUNT_HARMLESS, by_training, "*"},
    {CLFI_SENTENCE_SETTINGS, NULL, CLF_ACCOUNT_FOLLOWED, "read by similarity.c", "similarity_fn_name"},
    {CLFI_ACCOUNT_WITH_MODULES, NULL, CLF_ACCOUNT_FOLLOWED, "read by sentence_settings.c",
     "model_type prompts default_prompt_name truncate_dim activation_fn"},
    {CLFI_SENTENCE_SETTINGS, NULL, CLF_ACCOUNT_HARMLESS, by_files, "__version__ requirements keep_in_fp32_modules"},
    /* tokenizers */
    {CLFI_ACCOUNT_TOKENIZER, NULL, CLF_ACCOUNT_FOLLOWED, by_tokenizer,
     "tokenizer_class backend added_tokens_decoder additional_special_tokens extra_special_tokens model_specific_special_tokens bos_token "
     "eos_token unk_token sep_token pad_token cls_token mask_token add_prefix_space trim_offsets add_bos_token add_eos_token legacy "
     "do_lower_case strip_accents tokenize_chinese_chars split_special_tokens truncation_side model_max_length max_len model_input_names "
     "chat_template chat_control_tokens separate_vocabs clean_up_tokenization_spaces "
     "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"},
    {CLFI_ACCOUNT_TOKENIZER, NULL, CLF_ACCOUNT_HARMLESS, by_batch,
     "padding_side pad_token_type_id pad_to_multiple_of max_length stride truncation_strategy truncation"},
    {CLFI_ACCOUNT_TOKENIZER, NULL, CLF_ACCOUNT_HARMLESS, by_files,
     "name_or_path special_tokens_map_file tokenizer_file vocab_file merges_file auto_map processor_class use_fast is_local files_loaded "
     "init_inputs from_slow never_split do_basic_tokenize local_files_only trust_remote_code errors verbose fast_tokenizer_files "
     "tokenizer_type source_spm target_spm target_vocab_file"},
    {CLFI_ACCOUNT_TOKENIZER, NULL, CLF_ACCOUNT_HARMLESS, "the tokenizer's files tell it",
     "source_lang target_lang extra_ids do_split_on_punc max_input_chars_per_word"},
    {CLFI_ACCOUNT_TOKENIZER, NULL, CLF_ACCOUNT_REFUSED, "it changes how texts are split and is not supported",
     "fix_mistral_regex sp_model_kwargs"},
    {CLFI_ACCOUNT_TOKENIZER, NULL, CLF_ACCOUNT_HARMLESS, by_training, "response_template response_schema use_default_system_prompt"},
    {CLFI_ACCOUNT_SPECIALS, NULL, CLF_ACCOUNT_FOLLOWED, "followed where tokenizer_config.json does not list the added tokens", "*"},
    {CLFI_ACCOUNT_ADDED, NULL, CLF_ACCOUNT_FOLLOWED, "followed where tokenizer_config.json does not list the added tokens", "*"},
    /* files */
    {CLFI_ADAPTER_CONFIG, NULL, CLF_ACCOUNT_FOLLOWED, "a LoRA adapter is merged as the weights are loaded", ""},
    {CLFI_ADAPTER_WEIGHTS, NULL, CLF_ACCOUNT_FOLLOWED, "a LoRA adapter is merged as the weights are loaded", ""},
    {"*processor_config.json", NULL, CLF_ACCOUNT_HARMLESS, by_pictures, ""},
    {"audio_tokenizer_config.json", NULL, CLF_ACCOUNT_HARMLESS, by_pictures, ""},
    {"additional_chat_templates", NULL, CLF_ACCOUNT_HARMLESS, "chat reads default.jinja; others are for callers who name them", ""},
    {"pytorch_model*.bin", NULL, CLF_ACCOUNT_HARMLESS, by_pickle, ""},
    {"pytorch_model.bin.index.json", NULL, CLF_ACCOUNT_HARMLESS, by_pickle, ""},
    {"colbert_linear.pt", NULL, CLF_ACCOUNT_HARMLESS, "a head for token vectors, which embeddings do not use", ""},
    {"sparse_linear.pt", NULL, CLF_ACCOUNT_HARMLESS, "a head for term weights, which embeddings do not use", ""},
    {"training_args.bin", NULL, CLF_ACCOUNT_HARMLESS, by_training, ""},
    {"optimizer.*", NULL, CLF_ACCOUNT_HARMLESS, by_training, ""},
    {"scheduler.pt", NULL, CLF_ACCOUNT_HARMLESS, by_training, ""},
    {"rng_state*.pth", NULL, CLF_ACCOUNT_HARMLESS, by_training, ""},
    {"trainer_state.json", NULL, CLF_ACCOUNT_HARMLESS, by_training, ""},
    {"onnx", NULL, CLF_ACCOUNT_HARMLESS, by_other_form, ""},
    {"openvino", NULL, CLF_ACCOUNT_HARMLESS, by_other_form, ""},
    {"coreml", NULL, CLF_ACCOUNT_HARMLESS, by_other_form, ""},
    {"*.onnx", NULL, CLF_ACCOUNT_HARMLESS, by_other_form, ""},
    {"*.h5", NULL, CLF_ACCOUNT_HARMLESS, by_other_form, ""},
    {"*.ot", NULL, CLF_ACCOUNT_HARMLESS, by_other_form, ""},
    {"*.msgpack", NULL, CLF_ACCOUNT_HARMLESS, by_other_form, ""},
    {"README*", NULL, CLF_ACCOUNT_HARMLESS, by_card, ""},
    {"LICENSE*", NULL, CLF_ACCOUNT_HARMLESS, by_card, ""},
    {"*.md", NULL, CLF_ACCOUNT_HARMLESS, by_card, ""},
    {".gitattributes", NULL, CLF_ACCOUNT_HARMLESS, by_card, ""},
};

const clf_account_row *clfi_account_rows(size_t *count)
{
    *count = COUNT(rows);
    return rows;
}
