/* SPDX-License-Identifier: MIT */
/* Chooses from the tuner's measurements one rule per product, and one set of CLBlast's parameters. */
#ifndef CLFI_TUNE_TUNE_CHOOSE_H
#define CLFI_TUNE_TUNE_CHOOSE_H

#include "tune/tune_search.h"

/* Chooses a rule for each product: the table's choice unless something is clearly faster. A weight is packed once for all numbers of rows,
 * so products with the same weight get engines that read it in the same form. Release *out with clfi_tuning_clear. OUT_OF_MEMORY. */
clf_status clfi_tune_choose(const clfi_tune_results *results, const clfi_tune_products *products, clf_tuning *out);

/* Puts the table's choice back where the chosen rules, measured once more as candidate `check`, are not faster. */
void clfi_tune_confirm(const clfi_tune_results *results, size_t check, const clfi_tune_products *products, clf_tuning *tuning);

#endif
