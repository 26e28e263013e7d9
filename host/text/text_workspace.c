/* SPDX-License-Identifier: MIT */
/* Prepares, exchanges and releases the buffers of an encoding. */
#include "text/text_workspace.h"

#include "base/alloc.h"
#include "text/regex.h"

void clfi_text_workspace_free(clf_text_workspace *work)
{
    clfi_str_free(&work->repaired);
    for (size_t i = 0; i < 2; i++) {
        clfi_aligned_free(&work->text[i]);
        free(work->pieces[i].pieces);
        free(work->tokens[i].tokens);
    }
    clfi_aligned_free(&work->part);
    free(work->matches.pieces);
    free(work->codes.codes);
    free(work->marks.codes);
    clfi_regex_memory_free(work->regex);
    clfi_model_memory_free(work->model);
    *work = (clf_text_workspace){.repaired = CLF_STR_INIT};
}

clf_status clfi_text_workspace_model(clf_text_workspace *work, clf_model_memory **out)
{
    if (!work->model)
        CLF_TRY(clfi_alloc(1, sizeof *work->model, "tokenizer memory", &work->model));
    *out = work->model;
    return CLF_OK;
}

void clfi_text_workspace_begin(clf_text_workspace *work, size_t size, bool is_aligned)
{
    for (size_t i = 0; i < 2; i++) {
        clfi_aligned_clear(&work->text[i], is_aligned);
        work->text[i].limit = clfi_text_limit(size);
    }
    work->codes.limit = clfi_text_limit(size);
}

void clfi_text_workspace_swap(clf_text_workspace *work)
{
    const clf_aligned_text text = work->text[0];
    work->text[0] = work->text[1];
    work->text[1] = text;
}

clf_status clfi_code_append(clf_code_list *list, uint32_t code, int change)
{
    if (list->limit && list->count == list->limit)
        return clfi_text_too_long(list->limit);
    if (list->count == list->capacity)
        CLF_TRY(clfi_grow(&list->codes, &list->capacity, list->count + 1, sizeof *list->codes, "characters"));
    list->codes[list->count++] = (clf_changed_code){code, change};
    return CLF_OK;
}
