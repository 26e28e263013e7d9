/* SPDX-License-Identifier: MIT */
/* The only list of families. */
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "model/family.h"

static const clf_family *const families[] = {
    &clfi_family_bert,
    &clfi_family_distilbert,
    &clfi_family_roberta,
    &clfi_family_xlm_roberta,
    &clfi_family_camembert,
    &clfi_family_mpnet,
    &clfi_family_nomic_bert,
    &clfi_family_modernbert,
    &clfi_family_encoder_decoder,
    &clfi_family_bart,
    &clfi_family_marian,
    &clfi_family_t5,
    &clfi_family_llama,
    &clfi_family_mistral,
    &clfi_family_qwen2,
    &clfi_family_qwen3,
    &clfi_family_gemma,
    &clfi_family_gemma2,
    &clfi_family_gemma3,
    &clfi_family_phi3,
    &clfi_family_gpt2,
};

const clf_family *clfi_family_at(size_t index)
{
    return index < COUNT(families) ? families[index] : NULL;
}

static bool can_do(const clf_family *family, unsigned tasks)
{
    return tasks == 0 || (family->tasks & tasks) != 0;
}

/* "encoder-decoder, bart or marian" */
static void list(unsigned tasks, char *out, size_t size)
{
    size_t left = 0, length = 0;
    for (size_t i = 0; i < COUNT(families); i++)
        left += can_do(families[i], tasks);
    out[0] = '\0';
    for (size_t i = 0; i < COUNT(families) && length + 1 < size; i++)
        if (can_do(families[i], tasks)) {
            left--;
            length += (size_t)snprintf(out + length, size - length, "%s%s", families[i]->model_type,
                                       left > 1    ? ", "
                                       : left == 1 ? " or "
                                                   : "");
        }
}

clf_status clfi_family_find(const json_t *config, unsigned tasks, const clf_family **out)
{
    const char *type;
    char known[512];
    CLF_TRY(clfi_json_get_string(config, CLFI_MODEL_CONFIG, "model_type", &type));
    for (size_t i = 0; i < COUNT(families); i++) {
        if (can_do(families[i], tasks) && strcmp(families[i]->model_type, type) == 0) {
            *out = families[i];
            return CLF_OK;
        }
    }
    list(tasks, known, sizeof known);
    CLF_FAIL(CLF_UNSUPPORTED, "%s: model_type \"%s\": expected %s", CLFI_MODEL_CONFIG, type, known);
}
