/* SPDX-License-Identifier: MIT */
/* Random weights for the reference Transformer. */
#ifndef CLF_TEST_RANDOM_WEIGHTS_H
#define CLF_TEST_RANDOM_WEIGHTS_H

#include "workload/reference_transformer.h"

/* All weights that a configuration needs; values uniform in [-range, range], norm gains around 1. Freed by clfi_ref_weights_free. */
void random_weights(const clf_transformer_config *config, uint64_t seed, float range, clfi_ref_weights *out);

#endif
