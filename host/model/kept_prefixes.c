/* SPDX-License-Identifier: MIT */
/* Keeps the list of sequences of ended requests. It is short, so a linear search is enough. */
#include "model/kept_prefixes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void drop_sequence(const clf_kept_prefixes *prefixes, int32_t sequence)
{
    const clf_status dropped = clfi_decode_drop(prefixes->batch, sequence);
    (void)dropped; /* cannot fail: the batch has the sequence */
}

static void drop(clf_kept_prefixes *prefixes, size_t index)
{
    clf_kept_prefix *gone = &prefixes->at[index];
    drop_sequence(prefixes, gone->sequence);
    free(gone->tokens);
    prefixes->rows -= gone->count;
    *gone = prefixes->at[--prefixes->count];
}

void clfi_prefixes_clear(clf_kept_prefixes *prefixes)
{
    while (prefixes->count > 0)
        drop(prefixes, prefixes->count - 1);
    free(prefixes->at);
    *prefixes = (clf_kept_prefixes){.batch = NULL};
}

static size_t shared_tokens(const clf_kept_prefix *kept, const int32_t *tokens, size_t count)
{
    size_t shared = 0;
    while (shared < count && shared < kept->count && kept->tokens[shared] == tokens[shared])
        shared++;
    return shared;
}

bool clfi_prefixes_drop_oldest(clf_kept_prefixes *prefixes)
{
    size_t oldest = 0;
    for (size_t i = 1; i < prefixes->count; i++)
        if (prefixes->at[i].used < prefixes->at[oldest].used)
            oldest = i;
    if (prefixes->count == 0)
        return false;
    drop(prefixes, oldest);
    return true;
}

static clf_status add(clf_kept_prefixes *prefixes, int32_t sequence, const int32_t *tokens, size_t count)
{
    clf_kept_prefix kept = {.sequence = sequence, .count = count, .used = ++prefixes->clock};
    CLF_TRY(clfi_grow(&prefixes->at, &prefixes->capacity, prefixes->count + 1, sizeof *prefixes->at, "kept texts"));
    CLF_TRY(clfi_alloc(count, sizeof *kept.tokens, "kept texts", &kept.tokens));
    memcpy(kept.tokens, tokens, count * sizeof *tokens);
    prefixes->at[prefixes->count++] = kept;
    prefixes->rows += count;
    return CLF_OK;
}

void clfi_prefixes_keep(clf_kept_prefixes *prefixes, int32_t sequence, const int32_t *tokens, size_t count)
{
    if (count < CLFI_LEAST_PREFIX || count > prefixes->most_rows) {
        drop_sequence(prefixes, sequence);
        return;
    }
    for (size_t i = prefixes->count; i-- > 0;) {
        const size_t shared = shared_tokens(&prefixes->at[i], tokens, count);
        if (shared == count) { /* the kept one begins with all of it */
            prefixes->at[i].used = ++prefixes->clock;
            drop_sequence(prefixes, sequence);
            return;
        }
        if (shared == prefixes->at[i].count)
            drop(prefixes, i);
    }
    while (prefixes->count == CLFI_MOST_PREFIXES || prefixes->rows + count > prefixes->most_rows)
        clfi_prefixes_drop_oldest(prefixes);
    if (add(prefixes, sequence, tokens, count) != CLF_OK)
        drop_sequence(prefixes, sequence);
}

clf_status clfi_prefixes_fork(clf_kept_prefixes *prefixes, const int32_t *tokens, size_t count, int32_t *out_sequence, size_t *out_shared)
{
    size_t best = 0, most = 0;
    int32_t sequence;
    for (size_t i = 0; i < prefixes->count; i++) {
        const size_t shared = shared_tokens(&prefixes->at[i], tokens, count);
        if (shared > most) {
            best = i;
            most = shared;
        }
    }
    *out_shared = most < CLFI_LEAST_PREFIX ? 0 : most;
    if (*out_shared == 0)
        return CLF_OK;
    prefixes->at[best].used = ++prefixes->clock;
    CLF_TRY(clfi_decode_fork(prefixes->batch, prefixes->at[best].sequence, &sequence));
    const clf_status kept = clfi_decode_keep(prefixes->batch, sequence, (int32_t)most);
    if (kept != CLF_OK)
        drop_sequence(prefixes, sequence);
    else
        *out_sequence = sequence;
    return kept;
}
