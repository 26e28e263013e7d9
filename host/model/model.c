/* SPDX-License-Identifier: MIT */
/* Answers queries about an open model: its settings and prompts. */
#include "model/model.h"

const clf_model_info *clf_model_get_info(const clf_model *model)
{
    return model ? &model->info : NULL;
}

size_t clf_model_prompt_count(const clf_model *model)
{
    return model ? model->settings.prompts.count : 0;
}

const char *clf_model_prompt_name(const clf_model *model, size_t index)
{
    return index < clf_model_prompt_count(model) ? model->settings.prompts.name[index] : NULL;
}

const char *clf_model_prompt(const clf_model *model, const char *name)
{
    return model && name ? clfi_prompts_find(&model->settings.prompts, name) : NULL;
}

const char *clf_model_default_prompt_name(const clf_model *model)
{
    return model ? model->settings.prompts.standard : NULL;
}
