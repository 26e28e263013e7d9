/* SPDX-License-Identifier: MIT */
/* The table of normalizers, and the function that runs a chain of them between two buffers. */
#include "text/normalizer.h"

static const clf_part_kind *const rows[] = {
    &clfi_normalizer_bert.part,    &clfi_normalizer_lowercase.part, &clfi_normalizer_nfc.part,
    &clfi_normalizer_nfd.part,     &clfi_normalizer_nfkc.part,      &clfi_normalizer_nfkd.part,
    &clfi_normalizer_nmt.part,     &clfi_normalizer_strip.part,     &clfi_normalizer_strip_accents.part,
    &clfi_normalizer_replace.part, &clfi_normalizer_prepend.part,   &clfi_normalizer_precompiled.part,  
    &clfi_normalizer_byte_level.part,
};
const clf_part_table clfi_normalizers = {rows, COUNT(rows), "normalizers"};

clf_status clfi_normalize(const clf_chain *chain, clf_text_workspace *work)
{
    for (size_t i = 0; i < chain->count; i++) {
        const clf_normalizer_kind *kind = (const clf_normalizer_kind *)chain->parts[i].kind;
        clfi_aligned_clear(&work->text[1], work->text[0].is_aligned);
        CLF_TRY(kind->run(chain->parts[i].settings, &work->text[0], &work->text[1], work));
        clfi_text_workspace_swap(work);
    }
    return CLF_OK;
}

bool clfi_normalizers_are_local(const clf_chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        if (!((const clf_normalizer_kind *)chain->parts[i].kind)->is_local)
            return false;
    return true;
}
