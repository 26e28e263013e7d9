/* SPDX-License-Identifier: MIT */
/* Qwen3 (Yang et al. 2025): Llama whose queries and keys are normalised. */
#include "model/family.h"

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    static const clf_decoder_defaults defaults = {.norm_eps = 1e-6, .rope_theta = 10000, .activation = "silu"};
    CLF_TRY(clfi_decoder_read_config(json, &defaults, out));
    out->decoder.has_query_key_norm = true;
    return clfi_decoder_read_upper_windows(json, out);
}

const clf_family clfi_family_qwen3 = {.model_type = "qwen3",
                                      .tasks = CLF_TASK_GENERATE,
                                      .read_config = read_config,
                                      .names = &clfi_names_llama,
                                      .biases = clfi_biases_of_attention};
