/* SPDX-License-Identifier: MIT */
/* Estimates the gain of `--precision high` and prints the hint. */
#include "jobs/precision_hint.h"

#include <stdio.h>
#include <string.h>

#include "console/progress.h"
#include "runtime/matrix_rate.h"

/* A product at `high` takes this many on the unit. They reached this share of the unit's peak on an H100 (bench/README.md, 2026-11-27). */
static const double PRODUCTS = 3, SHARE = 0.41;
static const double CLEARLY = 1.5;

void cli_precision_hint(const clf_context *context)
{
    char text[CLFI_KEPT_BYTES];
    clf_kept_key key;
    const clf_matrix_unit_info *unit = clfi_matrix_unit_info(context->device.caps.matrix_unit);
    if (context->precision != CLF_PRECISION_HIGHEST || !unit->is_verified || strstr(context->engines, "gemm="))
        return;
    const clf_matrix_rates rates = clfi_matrix_rates_kept(context);
    const double gain = rates.floats > 0 ? SHARE * rates.unit / (PRODUCTS * rates.floats) : 0;
    if (gain < CLEARLY || clfi_matrix_rates_key(context, &key) != CLF_OK)
        return;
    key.kind = "precision-hint";
    if (clfi_kept_read(context, &key, text))
        return;
    clfi_kept_write(context, &key, "told");
    cli_line_clear();
    fprintf(stderr, "clformer: %s: --precision high would make matrix products about %.1f times as fast, on the matrix unit\n",
            context->device.info.name, gain);
}
