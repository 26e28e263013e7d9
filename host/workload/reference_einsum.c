/* SPDX-License-Identifier: MIT */
/* Reference einsum: result[output labels] = sum over the other labels of the product of all operands. An axis of size 1 is read at index
 * 0. */
#include "workload/reference_einsum.h"

#include <math.h>
#include <string.h>

enum { LABELS = CLFI_EINSUM_MAX_LABELS };

/* Position of an element in an operand for the given values of the labels. */
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

/* Lists the labels that the output lacks; returns their number. */
static int summed_labels(const clf_einsum_form *form, uint8_t summed[LABELS])
{
    int count = 0;
    for (int label = 0; label < LABELS; label++)
        if (labels_has(form->used, label) && !memchr(form->output, label, (size_t)form->output_rank))
            summed[count++] = (uint8_t)label;
    return count;
}

double clfi_ref_einsum_terms(const clf_einsum_form *form)
{
    uint8_t summed[LABELS];
    const int count = summed_labels(form, summed);
    double terms = 1;
    for (int i = 0; i < count; i++)
        terms *= (double)form->size[summed[i]];
    return terms;
}

double clfi_ref_einsum_element(const clf_einsum_form *form, const double *const *operand, size_t element, double *magnitude)
{
    uint8_t summed[LABELS];
    int64_t value[LABELS] = {0};
    const int count = summed_labels(form, summed);
    double sum = 0;
    for (int i = form->output_rank - 1; i >= 0; i--) {
        const size_t size = (size_t)form->size[form->output[i]];
        value[form->output[i]] = (int64_t)(element % size);
        element /= size;
    }
    *magnitude = 0;
    if (clfi_ref_einsum_terms(form) == 0)
        return 0;
    do {
        double product = 1;
        for (int k = 0; k < form->operand_count; k++)
            product *= operand[k][position(&form->operand[k], value)];
        sum += product;
        *magnitude += fabs(product);
    } while (advance(form, summed, count, value));
    return sum;
}

double clfi_ref_einsum(const clf_einsum_form *form, const double *const *operand, double *out, double *magnitude)
{
    for (size_t element = 0; element < form->output_elements; element++) {
        double absolute;
        out[element] = clfi_ref_einsum_element(form, operand, element, &absolute);
        if (magnitude)
            magnitude[element] = absolute;
    }
    return clfi_ref_einsum_terms(form);
}

double clfi_ref_einsum_error(int operands, double terms)
{
    return operands == 1 && terms == 1 ? 0 : (8 + 2 * operands + 2 * sqrt(terms)) * 0x1p-24;
}
