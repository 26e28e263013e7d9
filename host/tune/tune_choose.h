/* SPDX-License-Identifier: MIT */
/* Results of the tuner's measurements: one rule per product, and one set of CLBlast's parameters. */
#ifndef CLFI_TUNE_TUNE_CHOOSE_H
#define CLFI_TUNE_TUNE_CHOOSE_H

#include "tune/tune_search.h"

/* Rules for all products; the table's choice where nothing is clearly faster. A weight is packed once for all numbers of rows, so that
 * products with one weight get engines that take it in one form. out->rules: released with clfi_tuning_clear. OUT_OF_MEMORY. */
clf_status clfi_tune_choose(const clfi_tune_results *results, const clfi_tune_products *products, clf_tuning *out);

/* Puts the table's choice back where the chosen rules, measured once more as candidate `check`, are not faster. */
void clfi_tune_confirm(const clfi_tune_results *results, size_t check, const clfi_tune_products *products, clf_tuning *tuning);

#endif
