/* SPDX-License-Identifier: MIT */
/* Parses einsum equations, checks them against operand shapes, and gives the normalised form that planning starts from. Needs no device. */
#ifndef CLFI_OP_EINSUM_PARSE_H
#define CLFI_OP_EINSUM_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "op/einsum_labels.h"

typedef struct clf_einsum_shape {
    int rank;
    const int64_t *dim; /* may be NULL for rank 0 */
} clf_einsum_shape;

typedef struct clf_einsum_operand {
    int rank;
    uint8_t label[CLFI_EINSUM_MAX_RANK]; /* one per axis; repeated labels mean the diagonal */
    int64_t dim[CLFI_EINSUM_MAX_RANK];   /* equals the label's size, or 1 (broadcast) */
} clf_einsum_operand;

/* Labels: 0..51 letters, 52+i the i-th axis of the broadcast ellipsis, aligned at its right end. */
typedef struct clf_einsum_form {
    int operand_count;
    clf_einsum_operand operand[CLF_EINSUM_MAX_OPERANDS];
    int ellipsis_rank;
    clf_label_set used;                   /* labels that occur in an operand */
    int64_t size[CLFI_EINSUM_MAX_LABELS]; /* broadcast size of each used label, else 1 */
    int output_rank;
    uint8_t output[CLFI_EINSUM_MAX_RANK];
    int64_t output_dim[CLFI_EINSUM_MAX_RANK];
    size_t output_elements;
} clf_einsum_form;

/* Parses `equation` for `count` operands. Order of checks: characters from left to right, operand count, ranks, output labels, then sizes
 * operand by operand (diagonal, labels, ellipsis). The reason begins with a code that says which rule is broken, "E_SIZE: operand 1 label
 * 'j' is 4, expected 3". INVALID_ARGUMENT:
 *   E_ARGUMENT            a NULL pointer, or a negative rank or size
 *   E_CHAR                a character that equations cannot have, or a comma in the output
 *   E_ELLIPSIS_SYNTAX     dots that are not "...", or a second ellipsis
 *   E_ARROW               "-" or ">" that do not form the only "->"
 *   E_OPERAND_COUNT       terms and operands differ in number, or there are no operands
 *   E_RANK                a term's labels do not fit the operand's rank
 *   E_OUTPUT_UNKNOWN      an output label that no operand has
 *   E_OUTPUT_REPEAT       an output label twice
 *   E_DIAGONAL            a label repeated in one operand has unequal sizes
 *   E_SIZE                a label's sizes differ between operands, none being 1
 *   E_ELLIPSIS_BROADCAST  ellipsis axes do not broadcast
 * UNSUPPORTED:
 *   E_LIMIT               more operands or axes than allowed
 *   E_OVERFLOW            an element count does not fit */
clf_status clfi_einsum_parse(const char *equation, const clf_einsum_shape *shapes, int count, clf_einsum_form *out);

/* Writes 'j' as "j" and ellipsis axes as ".0", ".1" (counted from the right, as they are aligned); returns text. */
enum { CLFI_EINSUM_LABEL_TEXT = 8 };
char *clfi_einsum_label_text(const clf_einsum_form *form, int label, char text[CLFI_EINSUM_LABEL_TEXT]);

#endif
