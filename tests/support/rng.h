/* SPDX-License-Identifier: MIT */
/* Reproducible random numbers for tests: the generator of host/base/random.h under short names. */
#ifndef CLF_TEST_RNG_H
#define CLF_TEST_RNG_H

#include "base/random.h"

typedef clfi_random rng;

#define rng_bits clfi_random_bits
#define rng_uniform clfi_random_uniform

/* In 0 .. count - 1; count > 0. */
static inline int64_t rng_below(rng *r, int64_t count)
{
    return (int64_t)clfi_random_below(r, (size_t)count);
}

#endif
