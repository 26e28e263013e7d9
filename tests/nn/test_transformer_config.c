/* SPDX-License-Identifier: MIT */
/* Configurations that no Transformer is made from. */
#include "support/check.h"
#include "support/device.h"

#include "base/status.h"
#include "clformer/transformer.h"

/* Settings that contradict each other, or make no sense. */
static void test_contradictions(void **state)
{
    const struct {
        clf_transformer_config config;
        const char *reason;
    } cases[] = {
        {{.embedding_scale = -1.0f}, "E_VALUE: transformer: embedding_scale is -1"},
        {{.embedding_scale = NAN}, "E_VALUE: transformer: embedding_scale"},
        {{.embedding_scale = INFINITY}, "E_VALUE: transformer: embedding_scale"},
        {{.has_embedding_norm = 1}, "E_VALUE: transformer: has_embedding_norm"},
        {{.has_embedding_norm = 1, .source_vocabulary = 5, .decoder_layers = 1}, "E_VALUE: transformer: has_embedding_norm"},
        {{.is_generator_tied = 1, .source_vocabulary = 5, .target_vocabulary = 5, .decoder_layers = 1},
         "E_VALUE: transformer: is_generator_tied, but has"},
        {{.is_generator_tied = 1, .has_generator = 1, .target_vocabulary = 5, .encoder_layers = 1},
         "E_VALUE: transformer: is_generator_tied, but targets"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        clf_transformer_config config = cases[i].config;
        clf_transformer *network = NULL;
        config.size = sizeof config;
        config.width = config.hidden_width = config.heads = config.max_source = config.max_target = 4;
        CHECK_FAILS(clf_transformer_create_random(*state, &config, 1, &network), CLF_INVALID_ARGUMENT, cases[i].reason);
        assert_null(network);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contradictions)};
    return cmocka_run_group_tests_name("nn.transformer_config", tests, device_setup, device_teardown);
}
