/* SPDX-License-Identifier: MIT */
/* Reads the prompts of sentence-transformers models. */
#include "model/prompts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"

static int compare_names(const void *a, const void *b, void *names)
{
    char *const *name = names;
    return strcmp(name[*(const size_t *)a], name[*(const size_t *)b]);
}

static clf_status read_all(const json_t *json, const char *file, clf_prompts *prompts)
{
    const json_t *given;
    const char *name, *standard, *text;
    json_t *value;
    CLF_TRY(clfi_json_opt_object(json, file, "prompts", &given));
    CLF_TRY(clfi_json_opt_string(json, file, "default_prompt_name", NULL, &standard));
    if (given) {
        CLF_TRY(clfi_alloc(json_object_size(given), sizeof *prompts->name, "prompts", &prompts->name));
        CLF_TRY(clfi_alloc(json_object_size(given), sizeof *prompts->text, "prompts", &prompts->text));
        CLF_TRY(clfi_alloc(json_object_size(given), sizeof *prompts->by_name, "prompts", &prompts->by_name));
    }
    json_object_foreach((json_t *)given, name, value)
    {
        if (json_is_null(value))
            continue;
        const size_t i = prompts->count++;
        CLF_TRY(clfi_json_get_string(given, "config_sentence_transformers.json: prompts", name, &text));
        prompts->by_name[i] = i;
        CLF_TRY(clfi_strdup(name, &prompts->name[i]));
        CLF_TRY(clfi_strdup(text, &prompts->text[i]));
        if (standard && strcmp(standard, name) == 0)
            prompts->standard = prompts->name[i];
    }
    if (standard && !prompts->standard)
        CLF_FAIL(CLF_FORMAT, "%s: default_prompt_name: expected the name of one of the prompts, found \"%s\"", file, standard);
    if (prompts->count)
        qsort_r(prompts->by_name, prompts->count, sizeof *prompts->by_name, compare_names, prompts->name);
    return CLF_OK;
}

clf_status clfi_prompts_read(const json_t *json, const char *file, clf_prompts *out)
{
    clf_prompts prompts = {.count = 0};
    const clf_status st = read_all(json, file, &prompts);
    if (st != CLF_OK) {
        clfi_prompts_free(&prompts);
        return st;
    }
    *out = prompts;
    return CLF_OK;
}

void clfi_prompts_free(clf_prompts *prompts)
{
    for (size_t i = 0; i < prompts->count; i++) {
        free(prompts->name[i]);
        free(prompts->text[i]);
    }
    free(prompts->name);
    free(prompts->text);
    free(prompts->by_name);
    *prompts = (clf_prompts){.count = 0};
}

const char *clfi_prompts_find(const clf_prompts *prompts, const char *name)
{
    size_t low = 0, high = prompts->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2, i = prompts->by_name[middle];
        const int order = strcmp(prompts->name[i], name);
        if (order == 0)
            return prompts->text[i];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
