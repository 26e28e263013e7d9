/* SPDX-License-Identifier: MIT */
/* Combines all masks of an attention into bits. */
#include "op/attention_keep.h"

static bool depends_on(const clf_keep_masks *masks, int axis)
{
    const clf_view *const all[] = {masks->mask, masks->padding, masks->attention, masks->lengths};
    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i] && all[i]->dim[axis] > 1 && all[i]->stride[axis] != 0)
            return true;
    return false;
}

/* Keeps only the first index along axes that no mask depends on. */
static const clf_view *cut(const clf_view *mask, const int64_t *dim, clf_view *storage)
{
    if (!mask)
        return NULL;
    *storage = *mask;
    for (int i = 0; i < mask->rank; i++)
        storage->dim[i] = dim[i];
    return storage;
}

clf_status clfi_attention_keep(clf_context *context, const clf_keep_masks *masks, int rank, const int64_t *dim, clf_view *out)
{
    int64_t own[CLF_MAX_RANK], words[CLF_MAX_RANK];
    clf_view stored[4], keep;
    for (int i = 0; i < rank; i++)
        own[i] = words[i] = i == rank - 1 || (i == rank - 2 && masks->is_causal) || depends_on(masks, i) ? dim[i] : 1;
    const int64_t queries = own[rank - 2];
    words[rank - 2] = (queries + CLFI_KEEP_QUERIES - 1) / CLFI_KEEP_QUERIES;
    CLF_TRY(clfi_view_temporary(context, CLF_I32, rank, words, &keep));
    const clf_keep_masks own_masks = {cut(masks->mask, own, &stored[0]), cut(masks->padding, own, &stored[1]),
                                      cut(masks->attention, own, &stored[2]), cut(masks->lengths, own, &stored[3]), masks->is_causal};
    if (clfi_view_count(&keep) > 0)
        CLF_TRY(clfi_attention_keep_launch(context, &own_masks, queries, &keep));
    for (int i = 0; i < rank - 1; i++) {
        const int64_t full = i == rank - 2 ? (dim[i] + CLFI_KEEP_QUERIES - 1) / CLFI_KEEP_QUERIES : dim[i];
        keep.stride[i] = own[i] == 1 ? 0 : keep.stride[i];
        keep.dim[i] = full;
    }
    *out = keep;
    return CLF_OK;
}
