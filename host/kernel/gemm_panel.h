/* SPDX-License-Identifier: MIT */
/* Panels of B that CPU engines multiply by: how wide they are, and the register tiles over them. */
#ifndef CLFI_KERNEL_GEMM_PANEL_H
#define CLFI_KERNEL_GEMM_PANEL_H

#include "kernel/gemm.h"

/* Indices in the clf_tile of `packed`: rows and vectors of a register tile, and row tiles that use a panel before the next one follows. */
enum { CLFI_PANEL_ROWS, CLFI_PANEL_VECTORS, CLFI_PANEL_SUPER_ROWS };

enum { CLFI_WIDEST_PANEL = 64 /* columns */ };

/* The tile with the device's usual rows and super-rows in place of 0. */
clf_tile clfi_gemm_panel_tile(const clf_context *context, const clf_tile *tile);

/* Columns of a panel for n columns on this device: as the tile of `packed` says, else the cheapest for n. */
int64_t clfi_gemm_panel(const clf_context *context, const clf_tile *tile, int64_t n);

/* Most rows of a register tile with this number of vectors of B: as many as the registers hold sums for, at most 8. */
int clfi_gemm_panel_rows(const clf_context *context, int vectors);

/* Vectors that the registers of this CPU device hold. */
int clfi_gemm_registers(const clf_context *context);

#endif
