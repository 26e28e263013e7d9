/* SPDX-License-Identifier: MIT */
/* Llama (Touvron et al. 2023) and those that are built the same: SmolLM2, TinyLlama, Llama 3. */
#include "model/family.h"

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    static const clf_decoder_defaults defaults = {.norm_eps = 1e-6, .rope_theta = 10000, .activation = "silu"};
    CLF_TRY(clfi_decoder_read_config(json, &defaults, out));
    return clfi_model_config_no_windows(json, out->target.max_positions);
}

static const clf_bias_rule biases[] = {
    {CLFI_ROLES_ATTENTION, "attention_bias", false}, {CLFI_ROLES_FFN, "mlp_bias", false}, {CLFI_EVERY_ROLE, NULL, false}};

const clf_family clfi_family_llama = {
    .model_type = "llama", .tasks = CLF_TASK_GENERATE, .read_config = read_config, .names = &clfi_names_llama, .biases = biases};
