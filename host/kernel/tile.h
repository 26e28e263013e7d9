/* SPDX-License-Identifier: MIT */
/* Tile and work-group sizes that an engine's kernels are compiled with. */
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
    int values[CLFI_TILE_VALUES]; /* supported values in rising order, ended by 0 */
} clf_tile_parameter;

/* The parameters of one engine. A tile's values are 0 or supported ones. fits() returns whether they are possible together on this device
 * (registers, local memory, work-groups). standard() replaces 0 by the engine's choice, unless the choice depends on the product. */
typedef struct clf_tiling {
    const clf_tile_parameter *parameters;
    size_t count;
    bool (*fits)(const clf_context *context, const clf_tile *tile);
    clf_tile (*standard)(const clf_context *context, const clf_tile *tile);
} clf_tiling;

/* Returns the tile with each 0 replaced by the value of `usual`. */
static inline clf_tile clfi_tile_or(const clf_tile *tile, const clf_tile *usual)
{
    clf_tile all = *tile;
    for (int i = 0; i < CLFI_TILE_PARAMETERS; i++)
        if (!all.value[i])
            all.value[i] = usual->value[i];
    return all;
}

#endif
