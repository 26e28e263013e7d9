/* SPDX-License-Identifier: MIT */
/* The einsum cases of tests/data/einsum/golden.txt: equations with shapes and exact results, and equations to refuse. */
#ifndef CLF_TEST_CASES_EINSUM_H
#define CLF_TEST_CASES_EINSUM_H

#include <stddef.h>
#include <stdint.h>

#include "op/einsum_parse.h"

enum { EINSUM_CASE_OPERANDS = CLF_EINSUM_MAX_OPERANDS + 1, EINSUM_CASE_RANK = CLFI_EINSUM_MAX_RANK + 1 };

typedef struct einsum_case {
    char id[256];       /* equation and shapes, for messages */
    char code[32];      /* code of the expected failure, "E_SIZE"; "": a result is expected */
    char equation[160];
    int count;
    int64_t dim[EINSUM_CASE_OPERANDS][EINSUM_CASE_RANK];
    clf_einsum_shape shape[EINSUM_CASE_OPERANDS];
    int output_rank;
    int64_t output_dim[EINSUM_CASE_RANK];
    size_t output_elements;
    double output[1024];
} einsum_case;

/* Calls visit for every case of the file and returns their number. Fails the running test if the file cannot be read. */
int each_einsum_case(void (*visit)(const einsum_case *one, void *user), void *user);

/* Makes a case without a result from an equation and shapes, written as in the file. */
void einsum_case_make(const char *equation, const char *shapes, einsum_case *out);

/* Element `index` (C order) of one of the operands, as make_golden.py defines it; operands: their number. */
double einsum_case_value(int operands, int operand, size_t index);

/* Number of elements of an operand. */
size_t einsum_case_elements(const einsum_case *one, int operand);

#endif
