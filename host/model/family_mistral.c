/* SPDX-License-Identifier: MIT */
/* Mistral (Jiang et al. 2023): Llama whose layers see a window. */
#include "model/family.h"

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    static const clf_decoder_defaults defaults = {.norm_eps = 1e-6, .rope_theta = 10000, .activation = "silu"};
    CLF_TRY(clfi_decoder_read_config(json, &defaults, out));
    return clfi_decoder_read_one_window(json, CLFI_WINDOW, out);
}

const clf_family clfi_family_mistral = {.model_type = "mistral",
                                        .tasks = CLF_TASK_GENERATE,
                                        .read_config = read_config,
                                        .names = &clfi_names_llama,
                                        .biases = clfi_biases_nowhere};
