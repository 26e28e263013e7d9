/* SPDX-License-Identifier: MIT */
/* Parses einsum equations: one scan finds syntax errors in reading order, then the terms are checked against the operands' shapes. */
#include "op/einsum_parse.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

#define REFUSE_AS(status, id, ...) CLF_FAIL(status, "E_" #id ": " __VA_ARGS__)
#define REFUSE(id, ...) REFUSE_AS(CLF_INVALID_ARGUMENT, id, __VA_ARGS__)

/* One term or the output, as written: bytes [start, end) of the equation, its letters, and whether it has an ellipsis. */
typedef struct term_text {
    size_t start, end;
    size_t letters;
    bool ellipsis;
} term_text;

typedef struct scan {
    const char *text;
    size_t terms; /* may exceed the array: only the first ones are kept, the operand count check follows */
    term_text term[CLF_EINSUM_MAX_OPERANDS];
    bool explicit_output;
    term_text output;
} scan;

static int label_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return 26 + c - 'a';
    return -1;
}

char *clfi_einsum_label_text(const clf_einsum_form *form, int label, char text[CLFI_EINSUM_LABEL_TEXT])
{
    if (label < CLFI_EINSUM_LETTERS) {
        text[0] = (char)(label < 26 ? 'A' + label : 'a' + label - 26);
        text[1] = '\0';
    } else {
        snprintf(text, CLFI_EINSUM_LABEL_TEXT, ".%d", (form->ellipsis_rank - 1 - (label - CLFI_EINSUM_LETTERS)) & 31);
    }
    return text;
}

/* Ends the current term at `end` and stores it. */
static void close_term(scan *s, const term_text *term, size_t end)
{
    term_text done = *term;
    done.end = end;
    if (s->explicit_output) {
        s->output = done;
    } else {
        if (s->terms < COUNT(s->term))
            s->term[s->terms] = done;
        s->terms++;
    }
}

static clf_status scan_equation(scan *s)
{
    const char *text = s->text;
    term_text term = {0, 0, 0, false};
    size_t i = 0;
    while (text[i]) {
        const char c = text[i];
        if (label_of(c) >= 0) {
            term.letters++;
            i++;
        } else if (c == ' ') {
            i++;
        } else if (c == ',') {
            if (s->explicit_output)
                REFUSE(CHAR, "',' at %zu: the output is one term", i);
            close_term(s, &term, i++);
            term = (term_text){i, i, 0, false};
        } else if (c == '.') {
            if (strncmp(text + i, "...", 3) != 0 || text[i + 3] == '.')
                REFUSE(ELLIPSIS_SYNTAX, "'.' at %zu is not part of exactly \"...\"", i);
            if (term.ellipsis)
                REFUSE(ELLIPSIS_SYNTAX, "second \"...\" in a term, at %zu", i);
            term.ellipsis = true;
            i += 3;
        } else if (c == '-' || c == '>') {
            if (c == '>' || text[i + 1] != '>')
                REFUSE(ARROW, "'%c' at %zu is not part of \"->\"", c, i);
            if (s->explicit_output)
                REFUSE(ARROW, "second \"->\" at %zu", i);
            close_term(s, &term, i);
            s->explicit_output = true;
            i += 2;
            term = (term_text){i, i, 0, false};
        } else {
            REFUSE(CHAR, "byte 0x%02x at %zu is not a letter, ',', \"...\", \"->\" or a space", (unsigned char)c, i);
        }
    }
    close_term(s, &term, i);
    return CLF_OK;
}

static clf_status check_counts(clf_einsum_form *form, const scan *s, const clf_einsum_shape *shapes, int count)
{
    if (count <= 0)
        REFUSE(OPERAND_COUNT, "%zu %s, %d %s", s->terms, clfi_plural(s->terms, "term", "terms"), count,
               clfi_plural((uint64_t)count, "operand", "operands"));
    if (s->terms != (size_t)count)
        REFUSE(OPERAND_COUNT, "%zu %s, %d %s", s->terms, clfi_plural(s->terms, "term", "terms"), count,
               clfi_plural((uint64_t)count, "operand", "operands"));
    if (count > CLF_EINSUM_MAX_OPERANDS)
        REFUSE_AS(CLF_UNSUPPORTED, LIMIT, "%d operands, at most %d", count, CLF_EINSUM_MAX_OPERANDS);
    if (!shapes)
        REFUSE(ARGUMENT, "no operand shapes");
    for (int k = 0; k < count; k++) {
        const term_text *term = &s->term[k];
        const clf_einsum_shape *shape = &shapes[k];
        if (shape->rank < 0 || (shape->rank > 0 && !shape->dim))
            REFUSE(ARGUMENT, "operand %d has no shape", k);
        if (term->ellipsis ? term->letters > (size_t)shape->rank : term->letters != (size_t)shape->rank)
            REFUSE(RANK, "operand %d has rank %d, its term %s%zu labels", k, shape->rank, term->ellipsis ? "\"...\" and " : "",
                   term->letters);
    }
    for (int k = 0; k < count; k++) {
        if (shapes[k].rank > CLFI_EINSUM_MAX_RANK)
            REFUSE_AS(CLF_UNSUPPORTED, LIMIT, "operand %d has rank %d, at most %d", k, shapes[k].rank, CLFI_EINSUM_MAX_RANK);
        for (int axis = 0; axis < shapes[k].rank; axis++)
            if (shapes[k].dim[axis] < 0)
                REFUSE(ARGUMENT, "operand %d axis %d has size %lld", k, axis, (long long)shapes[k].dim[axis]);
        const int covered = s->term[k].ellipsis ? shapes[k].rank - (int)s->term[k].letters : 0;
        if (covered > form->ellipsis_rank)
            form->ellipsis_rank = covered;
    }
    return CLF_OK;
}

/* Appends the term's labels to out[0..]; `ellipsis_axes` of the broadcast ellipsis are taken, the rightmost ones. Returns their number. */
static int expand_term(const clf_einsum_form *form, const scan *s, const term_text *term, int ellipsis_axes, uint8_t *out)
{
    int rank = 0;
    for (size_t i = term->start; i < term->end; i++) {
        const int label = label_of(s->text[i]);
        if (label >= 0) {
            out[rank++] = (uint8_t)label;
        } else if (s->text[i] == '.') {
            for (int e = form->ellipsis_rank - ellipsis_axes; e < form->ellipsis_rank; e++)
                out[rank++] = (uint8_t)(CLFI_EINSUM_LETTERS + e);
            i += 2;
        }
    }
    return rank;
}

static clf_status implicit_output(clf_einsum_form *form)
{
    int seen[CLFI_EINSUM_LETTERS] = {0};
    for (int k = 0; k < form->operand_count; k++)
        for (int axis = 0; axis < form->operand[k].rank; axis++)
            if (form->operand[k].label[axis] < CLFI_EINSUM_LETTERS)
                seen[form->operand[k].label[axis]]++;
    int rank = form->ellipsis_rank;
    for (int label = 0; label < CLFI_EINSUM_LETTERS; label++)
        rank += seen[label] == 1;
    if (rank > CLFI_EINSUM_MAX_RANK)
        REFUSE_AS(CLF_UNSUPPORTED, LIMIT, "the output has rank %d, at most %d", rank, CLFI_EINSUM_MAX_RANK);
    for (int e = 0; e < form->ellipsis_rank; e++)
        form->output[form->output_rank++] = (uint8_t)(CLFI_EINSUM_LETTERS + e);
    for (int label = 0; label < CLFI_EINSUM_LETTERS; label++)
        if (seen[label] == 1)
            form->output[form->output_rank++] = (uint8_t)label;
    return CLF_OK;
}

static clf_status explicit_output(clf_einsum_form *form, const scan *s)
{
    clf_label_set seen = labels_none();
    for (size_t i = s->output.start; i < s->output.end; i++) {
        const int label = label_of(s->text[i]);
        if (label < 0)
            continue;
        if (!labels_has(form->used, label))
            REFUSE(OUTPUT_UNKNOWN, "output label '%c' is in no operand", s->text[i]);
        if (labels_has(seen, label))
            REFUSE(OUTPUT_REPEAT, "output label '%c' occurs twice", s->text[i]);
        labels_add(&seen, label);
    }
    const int ellipsis_axes = s->output.ellipsis ? form->ellipsis_rank : 0;
    if (s->output.letters + (size_t)ellipsis_axes > CLFI_EINSUM_MAX_RANK)
        REFUSE_AS(CLF_UNSUPPORTED, LIMIT, "the output has rank %zu, at most %d", s->output.letters + (size_t)ellipsis_axes,
                  CLFI_EINSUM_MAX_RANK);
    form->output_rank = expand_term(form, s, &s->output, ellipsis_axes, form->output);
    return CLF_OK;
}

/* Joins the size of one occurrence of a label with that of earlier ones: 1 stretches to any size, all other sizes must agree. */
static bool join_size(clf_einsum_form *form, int label, int64_t dim)
{
    if (dim == 1 || form->size[label] == dim)
        return true;
    if (form->size[label] != 1)
        return false;
    form->size[label] = dim;
    return true;
}

static clf_status check_operand_sizes(clf_einsum_form *form, int k)
{
    const clf_einsum_operand *operand = &form->operand[k];
    for (int axis = 0; axis < operand->rank; axis++)
        for (int other = 0; other < axis; other++)
            if (operand->label[other] == operand->label[axis] && operand->dim[other] != operand->dim[axis])
                REFUSE(DIAGONAL, "operand %d label '%s' is %lld at axis %d and %lld at axis %d", k,
                       clfi_einsum_label_text(form, operand->label[axis], (char[CLFI_EINSUM_LABEL_TEXT]){0}),
                       (long long)operand->dim[other], other, (long long)operand->dim[axis], axis);
    for (int ellipsis = 0; ellipsis < 2; ellipsis++)
        for (int axis = 0; axis < operand->rank; axis++) {
            const int label = operand->label[axis];
            if ((label >= CLFI_EINSUM_LETTERS) != ellipsis || join_size(form, label, operand->dim[axis]))
                continue;
            if (ellipsis)
                REFUSE(ELLIPSIS_BROADCAST, "operand %d axis %d (ellipsis) is %lld, expected %lld or 1", k, axis,
                       (long long)operand->dim[axis], (long long)form->size[label]);
            REFUSE(SIZE, "operand %d label '%s' is %lld, expected %lld", k,
                   clfi_einsum_label_text(form, label, (char[CLFI_EINSUM_LABEL_TEXT]){0}), (long long)operand->dim[axis],
                   (long long)form->size[label]);
        }
    return CLF_OK;
}

/* Elements of a shape; an empty one has 0 however large its other axes are. */
static bool count_elements(const int64_t *dim, int rank, size_t *out)
{
    size_t count = 1;
    for (int axis = 0; axis < rank; axis++)
        if (dim[axis] == 0) {
            *out = 0;
            return true;
        }
    for (int axis = 0; axis < rank; axis++)
        if ((uint64_t)dim[axis] > SIZE_MAX || !clfi_mul_size(count, (size_t)dim[axis], &count) || count > INT64_MAX / 8)
            return false;
    *out = count;
    return true;
}

static clf_status measure(clf_einsum_form *form)
{
    size_t elements;
    for (int k = 0; k < form->operand_count; k++)
        if (!count_elements(form->operand[k].dim, form->operand[k].rank, &elements))
            REFUSE_AS(CLF_UNSUPPORTED, OVERFLOW, "the element count of operand %d does not fit", k);
    for (int axis = 0; axis < form->output_rank; axis++)
        form->output_dim[axis] = form->size[form->output[axis]];
    if (!count_elements(form->output_dim, form->output_rank, &form->output_elements))
        REFUSE_AS(CLF_UNSUPPORTED, OVERFLOW, "the element count of the output does not fit");
    return CLF_OK;
}

clf_status clfi_einsum_parse(const char *equation, const clf_einsum_shape *shapes, int count, clf_einsum_form *out)
{
    memset(out, 0, sizeof *out);
    for (int label = 0; label < CLFI_EINSUM_MAX_LABELS; label++)
        out->size[label] = 1;
    if (!equation)
        REFUSE(ARGUMENT, "the equation is NULL");
    scan s = {.text = equation};
    CLF_TRY(scan_equation(&s));
    CLF_TRY(check_counts(out, &s, shapes, count));
    out->operand_count = count;
    for (int k = 0; k < count; k++) {
        clf_einsum_operand *operand = &out->operand[k];
        operand->rank = expand_term(out, &s, &s.term[k], shapes[k].rank - (int)s.term[k].letters, operand->label);
        for (int axis = 0; axis < operand->rank; axis++) {
            operand->dim[axis] = shapes[k].dim[axis];
            labels_add(&out->used, operand->label[axis]);
        }
    }
    CLF_TRY(s.explicit_output ? explicit_output(out, &s) : implicit_output(out));
    for (int k = 0; k < count; k++)
        CLF_TRY(check_operand_sizes(out, k));
    return measure(out);
}
