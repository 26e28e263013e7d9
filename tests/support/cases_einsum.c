/* SPDX-License-Identifier: MIT */
/* Reads tests/data/einsum/golden.txt. */
#include "support/cases_einsum.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"

double einsum_case_value(int operands, int operand, size_t index)
{
    static const double few[] = {-3, -2, -1, 1, 2, 3}, many[] = {-1, 1, 1, 2};
    const uint32_t hashed = (uint32_t)((index * 37 + (size_t)operand * 11 + 5) * 2654435761u);
    return operands <= 5 ? few[(hashed >> 13) % 6] : many[(hashed >> 13) % 4];
}

size_t einsum_case_elements(const einsum_case *one, int operand)
{
    size_t count = 1;
    for (int axis = 0; axis < one->shape[operand].rank; axis++)
        count *= (size_t)one->dim[operand][axis];
    return count;
}

/* Reads a shape, "2x3" or "-" (rank 0), up to `end`; returns the rank. */
static int read_shape(const char *text, const char *end, int64_t *dim)
{
    int rank = 0;
    while (text < end && *text != '-') {
        char *next;
        assert_true(rank < EINSUM_CASE_RANK);
        dim[rank++] = strtoll(text, &next, 10);
        assert_true(next > text);
        text = next + (*next == 'x');
    }
    return rank;
}

static void copy_field(char *out, size_t capacity, const char *text, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < length)
            c = text[++i] == 't' ? '\t' : '\n';
        assert_true(used + 1 < capacity);
        out[used++] = c;
    }
    out[used] = '\0';
}

static void read_shapes(const char *text, const char *end, einsum_case *out)
{
    out->count = 0;
    while (text <= end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma ? comma : end;
        assert_true(out->count < EINSUM_CASE_OPERANDS);
        clf_einsum_shape *shape = &out->shape[out->count];
        shape->rank = read_shape(text, stop, out->dim[out->count]);
        shape->dim = out->dim[out->count];
        out->count++;
        text = stop + 1;
    }
}

void einsum_case_make(const char *equation, const char *shapes, einsum_case *out)
{
    memset(out, 0, sizeof *out);
    copy_field(out->equation, sizeof out->equation, equation, strlen(equation));
    read_shapes(shapes, shapes + strlen(shapes), out);
    snprintf(out->id, sizeof out->id, "einsum[%.150s %.90s]", equation, shapes);
}

/* Ends the text at its next '|'; returns the text after that. */
static char *cut(char *text)
{
    char *bar = strchr(text, '|');
    assert_non_null(bar);
    *bar = '\0';
    return bar + 1;
}

static void read_result(char *text, einsum_case *out)
{
    char *values = cut(text);
    out->output_rank = read_shape(text, text + strlen(text), out->output_dim);
    char *next;
    for (double value = strtod(values, &next); next > values; value = strtod(values, &next)) {
        assert_true(out->output_elements < COUNT(out->output));
        out->output[out->output_elements++] = value;
        values = next;
    }
}

int each_einsum_case(void (*visit)(const einsum_case *one, void *user), void *user)
{
    FILE *file = fopen(CLF_TEST_DATA "/einsum/golden.txt", "r");
    assert_non_null(file);
    einsum_case *one = malloc(sizeof *one);
    assert_non_null(one);
    static char line[8192];
    int cases = 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#')
            continue;
        const bool refused = line[0] == '!';
        char *equation = refused ? cut(line) : line;
        char *shapes = cut(equation);
        char *result = refused ? NULL : cut(shapes);
        einsum_case_make(equation, shapes, one);
        if (refused)
            copy_field(one->code, sizeof one->code, line + 1, strlen(line + 1));
        else
            read_result(result, one);
        visit(one, user);
        cases++;
    }
    free(one);
    fclose(file);
    return cases;
}
