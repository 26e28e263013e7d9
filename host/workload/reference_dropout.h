/* SPDX-License-Identifier: MIT */
/* Computes on the host which elements clf_dropout keeps, for tests and self-tests. */
#ifndef CLFI_WORKLOAD_REFERENCE_DROPOUT_H
#define CLFI_WORKLOAD_REFERENCE_DROPOUT_H

#include <stdbool.h>
#include <stdint.h>

/* One block of Philox 4x32-10 (Salmon et al. 2011). */
void clfi_ref_philox(uint64_t block, uint64_t seed, uint32_t out[4]);

/* Whether dropout keeps element n. */
bool clfi_ref_dropout_keeps(uint64_t n, float probability, uint64_t seed);

#endif
