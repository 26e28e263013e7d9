/* SPDX-License-Identifier: MIT */
/* Sets of einsum labels: 52 letters and up to 16 ellipsis axes as bits of two words. */
#ifndef CLFI_OP_EINSUM_LABELS_H
#define CLFI_OP_EINSUM_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/einsum.h"

enum {
    CLFI_EINSUM_MAX_RANK = CLF_MAX_RANK,
    CLFI_EINSUM_LETTERS = 52 /* labels 0..25 are A-Z, 26..51 a-z: ascending ids are ASCII order */
};
_Static_assert(CLFI_EINSUM_MAX_LABELS == CLFI_EINSUM_LETTERS + CLFI_EINSUM_MAX_RANK, "one loop for every label");

typedef struct clf_label_set {
    uint64_t word[2];
} clf_label_set;

static inline clf_label_set labels_none(void)
{
    return (clf_label_set){{0, 0}};
}

static inline void labels_add(clf_label_set *set, int label)
{
    set->word[label >> 6] |= UINT64_C(1) << (label & 63);
}

static inline bool labels_has(clf_label_set set, int label)
{
    return set.word[label >> 6] >> (label & 63) & 1;
}

static inline clf_label_set labels_or(clf_label_set a, clf_label_set b)
{
    return (clf_label_set){{a.word[0] | b.word[0], a.word[1] | b.word[1]}};
}

static inline clf_label_set labels_and(clf_label_set a, clf_label_set b)
{
    return (clf_label_set){{a.word[0] & b.word[0], a.word[1] & b.word[1]}};
}

static inline clf_label_set labels_minus(clf_label_set a, clf_label_set b)
{
    return (clf_label_set){{a.word[0] & ~b.word[0], a.word[1] & ~b.word[1]}};
}

static inline bool labels_equal(clf_label_set a, clf_label_set b)
{
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

static inline bool labels_empty(clf_label_set set)
{
    return (set.word[0] | set.word[1]) == 0;
}

/* Product of the sizes of the labels in the set, as a double: exact below 2^53, and a cost above. */
static inline double labels_size(clf_label_set set, const int64_t *size)
{
    double product = 1;
    for (int w = 0; w < 2; w++)
        for (uint64_t bits = set.word[w]; bits; bits &= bits - 1)
            product *= (double)size[w * 64 + __builtin_ctzll(bits)];
    return product;
}

#endif
