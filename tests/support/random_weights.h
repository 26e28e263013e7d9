/* SPDX-License-Identifier: MIT */
/* Makes random weights of the reference Transformer for tests. */
#ifndef CLF_TEST_RANDOM_WEIGHTS_H
#define CLF_TEST_RANDOM_WEIGHTS_H

#include "workload/reference_transformer.h"

/* Makes all weights that a configuration needs, uniform in [-range, range], gains of norms around 1. The caller frees *out with
 * clfi_ref_weights_free. */
void random_weights(const clf_transformer_config *config, uint64_t seed, float range, clfi_ref_weights *out);

#endif
