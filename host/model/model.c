/* SPDX-License-Identifier: MIT */
/* An open model: its end, and what is asked of it. */
#include "model/model.h"

void clfi_model_release(clf_model *model)
{
    if (atomic_fetch_sub(&model->references, 1) > 1)
        return;
    clfi_context_drain(model->context); /* kernels may still read the mapped weights */
    clf_tokenizer_destroy(model->tokenizer);
    clf_tokenizer_destroy(model->target);
    clfi_generation_config_free(&model->generation);
    clfi_network_destroy(model->network);
    clfi_labels_free(&model->labels);
    clfi_sentence_head_clear(&model->sentence);
    clfi_prompts_free(&model->prompts);
    clfi_context_release(model->context);
    free(model->directory);
    free(model);
}

const clf_model_info *clf_model_get_info(const clf_model *model)
{
    return model ? &model->info : NULL;
}

size_t clf_model_prompt_count(const clf_model *model)
{
    return model ? model->prompts.count : 0;
}

const char *clf_model_prompt_name(const clf_model *model, size_t index)
{
    return index < clf_model_prompt_count(model) ? model->prompts.name[index] : NULL;
}

const char *clf_model_prompt(const clf_model *model, const char *name)
{
    return model && name ? clfi_prompts_find(&model->prompts, name) : NULL;
}

const char *clf_model_default_prompt_name(const clf_model *model)
{
    return model ? model->prompts.standard : NULL;
}
