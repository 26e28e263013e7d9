/* SPDX-License-Identifier: MIT */
/* Phi-3 (Abdin et al. 2024): Llama with fused projections. */
#include "model/family.h"

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    static const clf_decoder_defaults defaults = {
        .norm_eps = 1e-5, .rope_theta = 10000, .activation = "silu", .turns_parts = true, .trained_positions = 4096};
    CLF_TRY(clfi_decoder_read_config(json, &defaults, out));
    return clfi_decoder_read_one_window(json, 0, out);
}

const clf_family clfi_family_phi3 = {.model_type = "phi3",
                                     .tasks = CLF_TASK_GENERATE,
                                     .read_config = read_config,
                                     .names = &clfi_names_llama,
                                     .biases = clfi_biases_nowhere};
