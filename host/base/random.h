/* SPDX-License-Identifier: MIT */
/* Reproducible random numbers, the same on every machine: SplitMix64 (Steele, Lea & Flood 2014). */
#ifndef CLFI_BASE_RANDOM_H
#define CLFI_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct clfi_random {
    uint64_t state; /* any seed */
} clfi_random;

static inline uint64_t clfi_random_bits(clfi_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A uniform number in [low, high). */
static inline float clfi_random_uniform(clfi_random *random, float low, float high)
{
    return low + (high - low) * ((float)(clfi_random_bits(random) >> 40) * 0x1p-24f);
}

/* A random index in 0 .. count - 1; count > 0. */
static inline size_t clfi_random_below(clfi_random *random, size_t count)
{
    return (size_t)(clfi_random_bits(random) % count);
}

static inline void clfi_random_fill(clfi_random *random, float *out, size_t count, float low, float high)
{
    for (size_t i = 0; i < count; i++)
        out[i] = clfi_random_uniform(random, low, high);
}

/* Random indices below `count` in rising order: all of them if count <= most; else one from each of `most` equal parts, with count - 1 from
 * the last part. Returns how many there are. */
static inline size_t clfi_random_places(clfi_random *random, size_t count, size_t most, size_t *places)
{
    if (count <= most)
        most = count;
    for (size_t i = 0; i < most; i++) {
        const size_t begin = i * count / most, end = (i + 1) * count / most;
        places[i] = begin + clfi_random_below(random, end - begin);
    }
    if (most > 0)
        places[most - 1] = count - 1;
    return most;
}

#endif
