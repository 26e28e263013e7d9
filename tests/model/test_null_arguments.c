/* SPDX-License-Identifier: MIT */
/* NULL for each pointer of models, sessions, transformers and tokenizers. */
#include "support/null_arguments.h"

static const int64_t dim[2] = {2, 3};
static const float square[9];

static void test_transformer(void **state)
{
    clf_context *context = *state;
    clf_tensor *x, *w, *ids;
    clf_transformer *network, *none;
    clf_feed_forward_network *feed_forward;
    clf_transformer_config config = CLF_TRANSFORMER_CONFIG_INIT;
    float data[6] = {7};
    config.width = config.hidden_width = 3;
    config.heads = config.encoder_layers = config.decoder_layers = 1;
    config.source_vocabulary = config.target_vocabulary = config.max_source = config.max_target = 2;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){1, 2, 3}, &x));
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){3, 3}, square, &w));
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 2, (int64_t[]){1, 2}, (int32_t[]){0, 1}, &ids));
    REFUSES(clf_transformer_config_default(NULL, sizeof config));
    REFUSES(clf_attention_masks_default(NULL, sizeof(clf_attention_masks)));
    REFUSES(clf_transformer_params_default(NULL, sizeof(clf_transformer_params)));
    REFUSES(clf_transformer_create(NULL, &config, CLF_NAMES_LABML, NULL, 0, &none));
    REFUSES(clf_transformer_create(context, NULL, CLF_NAMES_LABML, NULL, 0, &none));
    REFUSES(clf_transformer_create(context, &config, CLF_NAMES_LABML, NULL, 1, &none));
    REFUSES(clf_transformer_create(context, &config, CLF_NAMES_LABML, NULL, 0, NULL));
    REFUSES(clf_transformer_create_random(NULL, &config, 1, &none));
    REFUSES(clf_transformer_create_random(context, NULL, 1, &none));
    REFUSES(clf_transformer_create_random(context, &config, 1, NULL));
    REFUSES(clf_transformer_open(NULL, ".", &none));
    REFUSES(clf_transformer_open(context, NULL, &none));
    REFUSES(clf_transformer_open(context, ".", NULL));
    REFUSES(clf_transformer_create_shared(NULL, context, &none));
    RETURNS(clf_transformer_destroy(NULL));
    GIVES(clf_transformer_get_config(NULL), NULL);
    RETURNS(clf_xavier_uniform(1, NULL, 2, dim, data));
    RETURNS(clf_xavier_uniform(1, "weight", 2, NULL, data));
    RETURNS(clf_xavier_uniform(1, "weight", 2, dim, NULL));
    assert_true(data[0] == 7);
    CHECK_OK(clf_transformer_create_random(context, &config, 1, &network));
    REFUSES(clf_transformer_embed(NULL, 0, CLF_LAYOUT_NLD, ids, x));
    REFUSES(clf_transformer_embed(network, 0, CLF_LAYOUT_NLD, NULL, x));
    REFUSES(clf_transformer_embed(network, 0, CLF_LAYOUT_NLD, ids, NULL));
    REFUSES(clf_transformer_encode(NULL, CLF_LAYOUT_NLD, ids, NULL, NULL, x));
    REFUSES(clf_transformer_encode(network, CLF_LAYOUT_NLD, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_encode(network, CLF_LAYOUT_NLD, ids, NULL, NULL, NULL));
    REFUSES(clf_transformer_decode(NULL, CLF_LAYOUT_NLD, x, NULL, ids, NULL, NULL, x));
    REFUSES(clf_transformer_decode(network, CLF_LAYOUT_NLD, NULL, NULL, ids, NULL, NULL, x));
    REFUSES(clf_transformer_decode(network, CLF_LAYOUT_NLD, x, NULL, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_decode(network, CLF_LAYOUT_NLD, x, NULL, ids, NULL, NULL, NULL));
    REFUSES(clf_transformer_forward(NULL, CLF_LAYOUT_NLD, ids, ids, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_forward(network, CLF_LAYOUT_NLD, NULL, ids, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_forward(network, CLF_LAYOUT_NLD, ids, NULL, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_forward(network, CLF_LAYOUT_NLD, ids, ids, NULL, NULL, NULL, NULL));
    REFUSES(clf_transformer_encode(NULL, CLF_LAYOUT_NLD, ids, NULL, NULL, x));
    REFUSES(clf_transformer_decode(NULL, CLF_LAYOUT_NLD, x, NULL, ids, NULL, NULL, x));
    REFUSES(clf_transformer_forward(NULL, CLF_LAYOUT_NLD, ids, ids, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_generate(NULL, x, 0, x));
    REFUSES(clf_transformer_generate(network, NULL, 0, x));
    REFUSES(clf_transformer_generate(network, x, 0, NULL));
    clf_transformer_destroy(network);
    REFUSES(clf_feed_forward_create(NULL, CLF_ACTIVATION_RELU, w, NULL, NULL, NULL, w, NULL, &feed_forward));
    REFUSES(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, NULL, NULL, NULL, NULL, w, NULL, &feed_forward));
    REFUSES(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w, NULL, NULL, NULL, NULL, NULL, &feed_forward));
    REFUSES(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w, NULL, NULL, NULL, w, NULL, NULL));
    CHECK_OK(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w, NULL, NULL, NULL, w, NULL, &feed_forward));
    REFUSES(clf_feed_forward_apply(NULL, feed_forward, x, x));
    REFUSES(clf_feed_forward_apply(context, NULL, x, x));
    REFUSES(clf_feed_forward_apply(context, feed_forward, NULL, x));
    REFUSES(clf_feed_forward_apply(context, feed_forward, x, NULL));
    clf_feed_forward_destroy(feed_forward);
    RETURNS(clf_feed_forward_destroy(NULL));
    clf_tensor_destroy(x);
    clf_tensor_destroy(w);
    clf_tensor_destroy(ids);
}

static void test_models(void **state)
{
    clf_context *context = *state;
    clf_model *model;
    clf_session *session;
    clf_tensor *out;
    const clf_text text = {"a", 1}, broken = {NULL, 1};
    const clf_text_pair pair = {text, text};
    const clf_tokens one_token = {.ids = (const int32_t[]){1}, .count = 1};
    float row[8];
    size_t width;
    clf_pronouncer *pronouncer;
    clf_pronunciations *list;
    clf_pronounce_stats stats = {.words = 1};
    REFUSES(clf_embed_params_default(NULL, sizeof(clf_embed_params)));
    REFUSES(clf_model_open(NULL, ".", NULL, &model));
    REFUSES(clf_model_open(context, NULL, NULL, &model));
    REFUSES(clf_model_open(context, ".", NULL, NULL));
    clf_memory_plan plan;
    REFUSES(clf_memory_plan_read(NULL, ".", NULL, &plan));
    REFUSES(clf_memory_plan_read(context, NULL, NULL, &plan));
    REFUSES(clf_memory_plan_read(context, ".", NULL, NULL));
    GIVES(clf_model_get_memory_plan(NULL), NULL);
    REFUSES(clf_model_params_default(NULL, sizeof(clf_model_params)));
    RETURNS(clf_model_destroy(NULL));
    GIVES(clf_model_get_info(NULL), NULL);
    GIVES(clf_model_prompt_count(NULL), 0);
    GIVES(clf_model_prompt_name(NULL, 0), NULL);
    GIVES(clf_model_prompt(NULL, "query"), NULL);
    GIVES(clf_model_default_prompt_name(NULL), NULL);
    REFUSES(clf_model_embedding_width(NULL, NULL, &width));
    REFUSES(clf_classify_params_default(NULL, sizeof(clf_classify_params)));
    GIVES(clf_model_label_count(NULL), 0);
    GIVES(clf_model_label(NULL, 0), NULL);
    GIVES(clf_model_problem(NULL), CLF_PROBLEM_SINGLE_LABEL);
    REFUSES(clf_session_classify(NULL, &pair, 1, NULL, row, NULL, NULL));
    REFUSES(clf_session_score_pairs(NULL, &pair, 1, NULL, row, NULL));
    REFUSES(clf_session_create(NULL, context, &session));
    RETURNS(clf_session_destroy(NULL));
    GIVES(clf_session_context(NULL), NULL);
    REFUSES(clf_session_embed(NULL, &text, 1, NULL, row, NULL));
    REFUSES(clf_session_encode(NULL, &one_token, 1, &out));
    REFUSES(clf_session_attention(NULL, &one_token, 0, &out));
    size_t tokens;
    double perplexity;
    REFUSES(clf_generate_params_default(NULL, sizeof(clf_generate_params)));
    REFUSES(clf_session_generate(NULL, &text, 1, NULL, NULL, NULL));
    REFUSES(clf_session_logits(NULL, &text, 1, NULL, row));
    REFUSES(clf_session_perplexity(NULL, &text, 512, NULL, &perplexity, &tokens));
    clf_sequence *sequence;
    clf_request *request;
    int32_t chosen;
    REFUSES(clf_chat_params_default(NULL, sizeof(clf_chat_params)));
    REFUSES(clf_session_chat(NULL, &(clf_message){"user", text}, 1, NULL, NULL, NULL, &request));
    REFUSES(clf_session_run_requests(NULL, &request, 0));
    GIVES(clf_request_prompt_tokens(NULL), 0);
    GIVES(clf_request_finish(NULL), CLF_FINISH_NONE);
    RETURNS(clf_request_cancel(NULL));
    RETURNS(clf_request_destroy(NULL));
    REFUSES(clf_sequence_create(NULL, &sequence));
    REFUSES(clf_sequence_fork(NULL, &sequence));
    REFUSES(clf_sequence_keep(NULL, 0));
    GIVES(clf_sequence_length(NULL), 0);
    RETURNS(clf_sequence_destroy(NULL));
    REFUSES(clf_sequence_set_source(NULL, one_token.ids, 1));
    REFUSES(clf_session_run_sequences(NULL, NULL, 0, 0, row));
    REFUSES(clf_model_choose_token(NULL, NULL, row, NULL, 0, 0, &chosen));
    GIVES(clf_model_end_tokens(NULL, &tokens), NULL);
    GIVES(clf_model_start_tokens(NULL, &tokens), NULL);
    REFUSES(clf_pronounce_params_default(NULL, sizeof(clf_pronounce_params)));
    REFUSES(clf_pronouncer_open(NULL, NULL, &pronouncer));
    REFUSES(clf_pronouncer_open(context, NULL, NULL));
    CHECK_OK(clf_pronouncer_open(context, NULL, &pronouncer));
    REFUSES(clf_pronouncer_create_shared(NULL, context, &pronouncer));
    REFUSES(clf_pronouncer_create_shared(pronouncer, NULL, &pronouncer));
    REFUSES(clf_pronouncer_create_shared(pronouncer, context, NULL));
    REFUSES(clf_pronouncer_check(NULL, &text));
    REFUSES(clf_pronouncer_check(pronouncer, NULL));
    REFUSES(clf_pronouncer_check(pronouncer, &broken));
    REFUSES(clf_pronounce(NULL, &text, 1, NULL, &list));
    REFUSES(clf_pronounce(pronouncer, NULL, 1, NULL, &list));
    REFUSES(clf_pronounce(pronouncer, &broken, 1, NULL, &list));
    REFUSES(clf_pronounce(pronouncer, &text, 1, NULL, NULL));
    REFUSES(clf_pronouncer_attention(NULL, &text, "AH0", CLF_PRONOUNCE_ATTENTION_CROSS, 0, &out));
    REFUSES(clf_pronouncer_attention(pronouncer, NULL, "AH0", CLF_PRONOUNCE_ATTENTION_CROSS, 0, &out));
    REFUSES(clf_pronouncer_attention(pronouncer, &text, NULL, CLF_PRONOUNCE_ATTENTION_CROSS, 0, &out));
    REFUSES(clf_pronouncer_attention(pronouncer, &text, "AH0", CLF_PRONOUNCE_ATTENTION_CROSS, 0, NULL));
    RETURNS(clf_pronouncer_get_stats(pronouncer, NULL));
    RETURNS(clf_pronouncer_get_stats(NULL, &stats));
    assert_int_equal(stats.words, 0);
    clf_pronouncer_destroy(pronouncer);
    RETURNS(clf_pronouncer_destroy(NULL));
    GIVES(clf_pronunciations_count(NULL, 0), 0);
    GIVES(clf_pronunciations_get(NULL, 0, 0), NULL);
    RETURNS(clf_pronunciations_destroy(NULL));
}

static void test_tokenizers(void **state)
{
    static const char json[] = "{\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"continuing_subword_prefix\":\"##\","
                               "\"max_input_chars_per_word\":100,\"vocab\":{\"a\":0}}}";
    const clf_text file = {json, sizeof json - 1}, broken = {NULL, 1};
    const clf_vocabulary_spec spec = CLF_VOCABULARY_SPEC_INIT;
    clf_tokenizer *tokenizer;
    clf_encoding *encoding;
    clf_token_decoder *decoder;
    clf_text text;
    (void)state;
    REFUSES(clf_tokenizer_open(NULL, &tokenizer));
    REFUSES(clf_tokenizer_open(".", NULL));
    REFUSES(clf_tokenizer_open_target(NULL, &tokenizer));
    REFUSES(clf_tokenizer_open_target(".", NULL));
    REFUSES(clf_tokenizer_from_json(NULL, "", &tokenizer));
    REFUSES(clf_tokenizer_from_json(&broken, "", &tokenizer));
    REFUSES(clf_tokenizer_from_json(&file, NULL, &tokenizer));
    REFUSES(clf_tokenizer_from_json(&file, "", NULL));
    REFUSES(clf_tokenizer_from_vocabulary(NULL, "", &tokenizer));
    REFUSES(clf_tokenizer_from_vocabulary(&spec, NULL, &tokenizer));
    REFUSES(clf_tokenizer_from_vocabulary(&spec, "", NULL));
    REFUSES(clf_tokenizer_from_vocabulary(&spec, "no model", &tokenizer));
    REFUSES(clf_vocabulary_spec_default(NULL, sizeof spec));
    REFUSES(clf_encode_params_default(NULL, sizeof(clf_encode_params)));
    REFUSES(clf_encoding_create(NULL));
    CHECK_OK(clf_tokenizer_from_json(&file, "test", &tokenizer));
    CHECK_OK(clf_encoding_create(&encoding));
    REFUSES(clf_tokenizer_encode(NULL, &file, NULL, NULL, encoding));
    REFUSES(clf_tokenizer_encode(tokenizer, NULL, NULL, NULL, encoding));
    REFUSES(clf_tokenizer_encode(tokenizer, &broken, NULL, NULL, encoding));
    REFUSES(clf_tokenizer_encode(tokenizer, &file, &broken, NULL, encoding));
    REFUSES(clf_tokenizer_encode(tokenizer, &file, NULL, NULL, NULL));
    GIVES(clf_tokenizer_vocabulary_size(NULL), 0);
    GIVES(clf_tokenizer_token(NULL, 0), NULL);
    GIVES(clf_tokenizer_id(NULL, "a"), -1);
    GIVES(clf_tokenizer_id(tokenizer, NULL), -1);
    GIVES(clf_tokenizer_is_special(NULL, 0), 0);
    GIVES(clf_tokenizer_added_count(NULL, 0), 0);
    GIVES(clf_tokenizer_role(NULL, CLF_TOKEN_BOS), -1);
    REFUSES(clf_token_decoder_create(NULL, 0, &decoder));
    REFUSES(clf_token_decoder_create(tokenizer, 0, NULL));
    CHECK_OK(clf_token_decoder_create(tokenizer, 0, &decoder));
    REFUSES(clf_token_decoder_push(NULL, 0, &text));
    REFUSES(clf_token_decoder_push(decoder, 0, NULL));
    REFUSES(clf_token_decoder_finish(NULL, &text));
    REFUSES(clf_token_decoder_finish(decoder, NULL));
    REFUSES(clf_token_decoder_decode(NULL, NULL, 0, &text));
    REFUSES(clf_token_decoder_decode(decoder, NULL, 1, &text));
    REFUSES(clf_token_decoder_decode(decoder, NULL, 0, NULL));
    RETURNS(clf_token_decoder_destroy(NULL));
    RETURNS(clf_encoding_destroy(NULL));
    RETURNS(clf_tokenizer_destroy(NULL));
    clf_token_decoder_destroy(decoder);
    clf_encoding_destroy(encoding);
    clf_tokenizer_destroy(tokenizer);
}

static void test_list_is_whole(void **state)
{
    (void)state;
    check_list(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transformer),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_tokenizers),
        cmocka_unit_test(test_list_is_whole),
    };
    return cmocka_run_group_tests_name("model.null_arguments", tests, device_setup, device_teardown);
}
