/* SPDX-License-Identifier: MIT */
/* Sizes of tiles and work-groups, which an engine's kernels are built with besides the case. */
#ifndef CLFI_KERNEL_TILE_H
#define CLFI_KERNEL_TILE_H

#include "runtime/context.h"

/* One value per parameter of the engine's tiling. 0: the engine's own choice. */
enum { CLFI_TILE_PARAMETERS = 6, CLFI_TILE_VALUES = 9 };
typedef struct clf_tile {
    int value[CLFI_TILE_PARAMETERS];
} clf_tile;

typedef struct clf_tile_parameter {
    const char *name;
    int values[CLFI_TILE_VALUES]; /* those there are kernels for, rising; 0 ends them */
} clf_tile_parameter;

/* The parameters of one engine. fits() says whether their values go together on this device (registers, local memory, work-groups); each
 * value is one of its parameter's or 0. standard() puts the engine's choice where there is 0; what depends on the case stays 0. */
typedef struct clf_tiling {
    const clf_tile_parameter *parameters;
    size_t count;
    bool (*fits)(const clf_context *context, const clf_tile *tile);
    clf_tile (*standard)(const clf_context *context, const clf_tile *tile);
} clf_tiling;

/* The tile with `usual` where it has 0. */
static inline clf_tile clfi_tile_or(const clf_tile *tile, const clf_tile *usual)
{
    clf_tile all = *tile;
    for (int i = 0; i < CLFI_TILE_PARAMETERS; i++)
        if (!all.value[i])
            all.value[i] = usual->value[i];
    return all;
}

#endif
