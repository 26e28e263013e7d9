/* SPDX-License-Identifier: MIT */
/* Reference einsum: result[output labels] = sum over the other labels of the product of all operands, index 0 where an operand's axis is
 * 1. */
#include "support/ref_einsum.h"

#include <math.h>
#include <string.h>

enum { LABELS = CLFI_EINSUM_MAX_LABELS };

/* Position in operand k for the given label values. */
static size_t position(const clf_einsum_operand *operand, const int64_t *value)
{
    size_t at = 0;
    for (int axis = 0; axis < operand->rank; axis++)
        at = at * (size_t)operand->dim[axis] + (size_t)(operand->dim[axis] == 1 ? 0 : value[operand->label[axis]]);
    return at;
}

/* Advances value over label[0..count), the last fastest; 0 after the last combination. */
static int advance(const clf_einsum_form *form, const uint8_t *label, int count, int64_t *value)
{
    for (int i = count - 1; i >= 0; i--) {
        if (++value[label[i]] < form->size[label[i]])
            return 1;
        value[label[i]] = 0;
    }
    return 0;
}

double ref_einsum(const clf_einsum_form *form, const double *const *operand, double *out, double *magnitude)
{
    uint8_t summed[LABELS];
    int summed_count = 0;
    double terms = 1;
    for (int label = 0; label < LABELS; label++)
        if (labels_has(form->used, label) && !memchr(form->output, label, (size_t)form->output_rank)) {
            summed[summed_count++] = (uint8_t)label;
            terms *= (double)form->size[label];
        }
    int64_t value[LABELS] = {0};
    for (size_t element = 0; element < form->output_elements; element++) {
        double sum = 0, absolute = 0;
        do {
            double product = terms > 0;
            for (int k = 0; k < form->operand_count && terms > 0; k++)
                product *= operand[k][position(&form->operand[k], value)];
            sum += product;
            absolute += fabs(product);
        } while (terms > 0 && advance(form, summed, summed_count, value));
        out[element] = sum;
        if (magnitude)
            magnitude[element] = absolute;
        advance(form, form->output, form->output_rank, value);
    }
    return terms;
}
