/* SPDX-License-Identifier: MIT */
/* The table of pre-tokenizers, and the function that runs a chain of them over the pieces of a text. */
#include "text/pre_tokenizer.h"

static const clf_part_kind *const rows[] = {
    &clfi_pre_tokenizer_bert.part,   &clfi_pre_tokenizer_whitespace.part,  &clfi_pre_tokenizer_whitespace_split.part,
    &clfi_pre_tokenizer_digits.part, &clfi_pre_tokenizer_punctuation.part, &clfi_pre_tokenizer_split.part,
    &clfi_pre_tokenizer_byte_level.part, &clfi_pre_tokenizer_metaspace.part,
};
const clf_part_table clfi_pre_tokenizers = {rows, COUNT(rows), "pretokenizers"};

static const clf_pre_tokenizer_kind *kind_of(const clf_part *part)
{
    return (const clf_pre_tokenizer_kind *)part->kind;
}

/* Passes the piece of an added token on unchanged. */
static clf_status keep(const clf_piece *piece, bool rewrites, clf_text_workspace *work)
{
    if (!rewrites)
        return clfi_piece_append(&work->pieces[1], piece->start, piece->end, piece->id);
    const size_t start = work->text[1].text.length;
    CLF_TRY(clfi_aligned_append_slice(&work->text[1], &work->text[0], piece->start, piece->end));
    return clfi_piece_append(&work->pieces[1], start, work->text[1].text.length, piece->id);
}

static clf_status run(const clf_part *part, clf_text_workspace *work)
{
    const clf_pre_tokenizer_kind *kind = kind_of(part);
    work->pieces[1].count = 0;
    if (kind->rewrite)
        clfi_aligned_clear(&work->text[1], work->text[0].is_aligned);
    for (size_t i = 0; i < work->pieces[0].count; i++) {
        const clf_piece *piece = &work->pieces[0].pieces[i];
        if (piece->id >= 0)
            CLF_TRY(keep(piece, kind->rewrite != NULL, work));
        else if (kind->rewrite)
            CLF_TRY(kind->rewrite(part->settings, &work->text[0], piece->start, piece->end, &work->text[1], &work->pieces[1], work));
        else
            CLF_TRY(kind->divide(part->settings, &work->text[0].text, piece->start, piece->end, &work->pieces[1], work));
    }
    if (kind->rewrite)
        clfi_text_workspace_swap(work);
    const clf_piece_list pieces = work->pieces[0];
    work->pieces[0] = work->pieces[1];
    work->pieces[1] = pieces;
    return CLF_OK;
}

clf_status clfi_pre_tokenize(const clf_chain *chain, clf_text_workspace *work)
{
    for (size_t i = 0; i < chain->count; i++)
        CLF_TRY(run(&chain->parts[i], work));
    return CLF_OK;
}

bool clfi_pre_tokenizers_are_local(const clf_chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        if (!kind_of(&chain->parts[i])->is_local)
            return false;
    return chain->count > 0; /* without one the text is a single word */
}

bool clfi_pre_tokenizers_cut_words(const clf_chain *chain)
{
    bool cuts = false;
    for (size_t i = 0; i < chain->count; i++) {
        const clf_pre_tokenizer_kind *kind = kind_of(&chain->parts[i]);
        const clf_word_cut words = kind->words ? kind->words(chain->parts[i].settings) : CLF_WORDS_UNKNOWN;
        if (words == CLF_WORDS_UNKNOWN)
            return false;
        cuts = cuts || words == CLF_WORDS_CUT;
    }
    return cuts;
}

bool clfi_pre_tokenizers_need_spans(const clf_chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        const clf_pre_tokenizer_kind *kind = kind_of(&chain->parts[i]);
        if (kind->needs_spans && kind->needs_spans(chain->parts[i].settings))
            return true;
    }
    return false;
}
