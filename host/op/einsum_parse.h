/* SPDX-License-Identifier: MIT */
/* Einsum equations: grammar, checks against operand shapes, and the normalised form that planning starts from. No device. */
#ifndef CLFI_OP_EINSUM_PARSE_H
#define CLFI_OP_EINSUM_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "op/einsum_labels.h"

/* Why an equation is refused; the reason's text begins with the code, "E_SIZE: operand 1 label 'j' is 4, expected 3". */
#define CLFI_EINSUM_CODE_MAP(X)                                                       \
    X(NONE)                                                                           \
    X(ARGUMENT)           /* a NULL pointer or an impossible count */                 \
    X(CHAR)               /* a character that no equation has */                      \
    X(ELLIPSIS_SYNTAX)    /* dots that are not "...", or a second ellipsis */         \
    X(ARROW)              /* "-" or ">" that do not form the only "->" */             \
    X(OPERAND_COUNT)      /* terms and operands differ in number */                   \
    X(RANK)               /* a term's labels do not fit the operand's rank */         \
    X(OUTPUT_UNKNOWN)     /* an output label that no operand has */                   \
    X(OUTPUT_REPEAT)      /* an output label twice */                                 \
    X(DIAGONAL)           /* a label repeated in one operand has unequal sizes */     \
    X(SIZE)               /* a label's sizes differ between operands, none being 1 */ \
    X(ELLIPSIS_BROADCAST) /* ellipsis axes do not broadcast */                        \
    X(LIMIT)              /* more operands, axes or memory than allowed */            \
    X(OVERFLOW)           /* an element count does not fit */

typedef enum clf_einsum_code {
#define X(id) CLFI_EINSUM_##id,
    CLFI_EINSUM_CODE_MAP(X)
#undef X
} clf_einsum_code;

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
    clf_einsum_code code; /* why parsing failed; NONE on success */
    int operand_count;
    clf_einsum_operand operand[CLFI_EINSUM_MAX_OPERANDS];
    int ellipsis_rank;
    clf_label_set used;                   /* labels that occur in an operand */
    int64_t size[CLFI_EINSUM_MAX_LABELS]; /* broadcast size of each used label, else 1 */
    int output_rank;
    uint8_t output[CLFI_EINSUM_MAX_RANK];
    int64_t output_dim[CLFI_EINSUM_MAX_RANK];
    size_t output_elements;
} clf_einsum_form;

/* Parses `equation` for `count` operands. Order of checks: characters from left to right, operand count, ranks, output labels, then sizes
 * operand by operand (diagonal, labels, ellipsis). Failures are INVALID_ARGUMENT, limits UNSUPPORTED; out->code tells which in any case. */
clf_status clfi_einsum_parse(const char *equation, const clf_einsum_shape *shapes, int count, clf_einsum_form *out);

/* "E_SIZE" for CLFI_EINSUM_SIZE. */
const char *clfi_einsum_code_name(clf_einsum_code code);

/* Writes 'j' as "j" and ellipsis axes as ".0", ".1" (counted from the right, as they are aligned); returns text. */
enum { CLFI_EINSUM_LABEL_TEXT = 8 };
char *clfi_einsum_label_text(const clf_einsum_form *form, int label, char text[CLFI_EINSUM_LABEL_TEXT]);

#endif
