/* SPDX-License-Identifier: MIT */
/* What was chosen before, as candidates. */
#ifndef CLFI_TUNE_TUNE_KEPT_H
#define CLFI_TUNE_TUNE_KEPT_H

#include "clformer/device.h"
#include "tune/tune_candidate.h"

/* The choices of a file for these products on this device with this driver at this precision, each once: the rules of *out are no products'
 * but engines with their tiles. Left out is what is measured anyway, an engine as it is. *out and statuses as those of
 * clfi_tuning_read. */
clf_status clfi_tune_kept_read(const char *file, const clf_device_info *device, const clfi_tune_products *products, clf_precision precision,
                               clf_tuning *out);

/* CLBlast's parameters that a rule was chosen with; NULL: not CLBlast's, or with its own. */
const clf_clblast_parameters *clfi_tune_kept_parameters(const clf_tuning *kept, const clf_gemm_rule *rule);

#endif
