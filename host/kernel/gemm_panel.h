/* SPDX-License-Identifier: MIT */
/* Panels of B that CPU engines multiply by: how wide they are, and the register tiles over them. */
#ifndef CLFI_KERNEL_GEMM_PANEL_H
#define CLFI_KERNEL_GEMM_PANEL_H

#include "kernel/gemm.h"

/* Places in the clf_tile of `packed`: rows and vectors of a register tile; so many row tiles pass over a panel before the next one. */
enum { CLFI_PANEL_ROWS, CLFI_PANEL_VECTORS, CLFI_PANEL_SUPER_ROWS };

enum { CLFI_WIDEST_PANEL = 64 /* columns */ };

/* A tile with the device's usual numbers where it has none. */
clf_tile clfi_gemm_panel_tile(const clf_context *context, const clf_tile *tile);

/* Columns of a panel for n columns on this device: what the tile of `packed` says, else the cheapest for n. */
int64_t clfi_gemm_panel(const clf_context *context, const clf_tile *tile, int64_t n);

/* Rows of a register tile beside so many vectors of B: as many as the registers hold sums for, 8 at most. */
int clfi_gemm_panel_rows(const clf_context *context, int vectors);

/* Vectors that the registers of this CPU device hold. */
int clfi_gemm_registers(const clf_context *context);

#endif
