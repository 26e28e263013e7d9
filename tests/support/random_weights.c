/* SPDX-License-Identifier: MIT */
/* Makes random weights of the reference Transformer. */
#include "support/random_weights.h"

#include "support/check.h"
#include "support/rng.h"

void random_weights(const clf_transformer_config *config, uint64_t seed, float range, clfi_ref_weights *out)
{
    rng r = {seed};
    *out = (clfi_ref_weights){0};
    CHECK_OK(clfi_ref_weights_add_all(out, config));
    for (size_t i = 0; i < out->count; i++) {
        clfi_ref_weight *w = &out->items[i];
        const float middle = strstr(w->name, "norm") && strstr(w->name, "weight") ? 1.0f : 0.0f;
        int64_t count = 1;
        for (int d = 0; d < w->rank; d++)
            count *= w->dim[d];
        for (int64_t e = 0; e < count; e++)
            w->value[e] = middle + rng_uniform(&r, -range, range);
    }
    clfi_ref_weights_tie(out, config);
}
