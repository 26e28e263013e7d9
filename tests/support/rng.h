/* SPDX-License-Identifier: MIT */
/* Reproducible random numbers: SplitMix64 (Steele, Lea & Flood 2014). */
#ifndef CLF_TEST_RNG_H
#define CLF_TEST_RNG_H

#include <stdint.h>

typedef struct rng {
    uint64_t state;
} rng;

static inline uint64_t rng_bits(rng *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* In [low, high). */
static inline float rng_uniform(rng *r, float low, float high)
{
    return low + (high - low) * (float)(rng_bits(r) >> 40) * 0x1p-24f;
}

/* In 0 .. count - 1; count > 0. */
static inline int64_t rng_below(rng *r, int64_t count)
{
    return (int64_t)(rng_bits(r) % (uint64_t)count);
}

#endif
