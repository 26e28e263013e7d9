/* SPDX-License-Identifier: MIT */
/* Qwen2 (Yang et al. 2024): Llama with biases of queries, keys and values. */
#include "io/json.h"
#include "model/family.h"

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    static const clf_decoder_defaults defaults = {.norm_eps = 1e-6, .rope_theta = 10000, .activation = "silu"};
    bool has_windows;
    CLF_TRY(clfi_decoder_read_config(json, &defaults, out));
    CLF_TRY(clfi_json_opt_bool(json, CLFI_MODEL_CONFIG, "use_sliding_window", false, &has_windows));
    return has_windows ? clfi_decoder_read_windows(json, 0, out) : CLF_OK;
}

const clf_family clfi_family_qwen2 = {"qwen2", CLF_TASK_GENERATE, CLF_POOLING_MEAN, CLFI_LLAMA_SIZES, read_config, &clfi_names_llama};
