/* SPDX-License-Identifier: MIT */
/* Qwen2 (Yang et al. 2024): Llama with biases of queries, keys and values. */
#include "model/family.h"

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    static const clf_decoder_defaults defaults = {.norm_eps = 1e-6, .rope_theta = 10000, .activation = "silu"};
    CLF_TRY(clfi_decoder_read_config(json, &defaults, out));
    return clfi_decoder_read_upper_windows(json, out);
}

static const clf_bias_rule biases[] = {{CLFI_ROLES_QKV, NULL, true}, {CLFI_EVERY_ROLE, NULL, false}};

const clf_family clfi_family_qwen2 = {
    .model_type = "qwen2", .tasks = CLF_TASK_GENERATE, .read_config = read_config, .names = &clfi_names_llama, .biases = biases};
