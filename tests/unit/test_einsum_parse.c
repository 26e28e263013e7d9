/* SPDX-License-Identifier: MIT */
/* Einsum equations: grammar, order of checks, sizes, output shapes, messages. */
#include "op/einsum_parse.h"
#include "support/cases_einsum.h"
#include "support/check.h"
#include "workload/reference_einsum.h"

static clf_einsum_form form;

static void check_case(const einsum_case *one, void *user)
{
    int *refused = user;
    const clf_status status = clfi_einsum_parse(one->equation, one->shape, one->count, &form);
    if (one->code[0]) {
        const bool limit = strcmp(one->code, "E_LIMIT") == 0;
        CHECK(status == (limit ? CLF_UNSUPPORTED : CLF_INVALID_ARGUMENT), "%s: status %s", one->id, clf_status_id(status));
        const size_t length = strlen(one->code);
        CHECK(strncmp(clf_last_error(), one->code, length) == 0 && clf_last_error()[length] == ':', "%s: %s", one->id, clf_last_error());
        ++*refused;
        return;
    }
    CHECK(status == CLF_OK, "%s: %s", one->id, clf_last_error());
    CHECK(form.output_rank == one->output_rank, "%s: rank %d", one->id, form.output_rank);
    for (int axis = 0; axis < form.output_rank; axis++)
        CHECK(form.output_dim[axis] == one->output_dim[axis], "%s: axis %d is %lld", one->id, axis, (long long)form.output_dim[axis]);
    CHECK(form.output_elements == one->output_elements, "%s: %zu elements", one->id, form.output_elements);
}

static void golden(void **state)
{
    (void)state;
    int refused = 0;
    const int cases = each_einsum_case(check_case, &refused);
    CHECK(cases - refused >= 400 && refused >= 90, "%d cases, %d of them refused", cases, refused);
}

/* The reference itself is checked against NumPy's results, so that it may judge cases that are not in the file. */
static void check_reference(const einsum_case *one, void *user)
{
    (void)user;
    if (one->code[0])
        return;
    CHECK_OK(clfi_einsum_parse(one->equation, one->shape, one->count, &form));
    double *operand[CLF_EINSUM_MAX_OPERANDS], out[1024], work = 1;
    for (int label = 0; label < CLFI_EINSUM_MAX_LABELS; label++)
        work *= (double)form.size[label];
    if (work > 2e6)
        return;
    for (int k = 0; k < one->count; k++) {
        const size_t elements = einsum_case_elements(one, k);
        operand[k] = test_malloc((elements + 1) * sizeof(double));
        for (size_t i = 0; i < elements; i++)
            operand[k][i] = einsum_case_value(one->count, k, i);
    }
    clfi_ref_einsum(&form, (const double *const *)operand, out, NULL);
    for (size_t i = 0; i < form.output_elements; i++)
        CHECK(out[i] == one->output[i], "%s at %zu: %g, want %g", one->id, i, out[i], one->output[i]);
    for (int k = 0; k < one->count; k++)
        test_free(operand[k]);
}

static void reference(void **state)
{
    (void)state;
    each_einsum_case(check_reference, NULL);
}

static void messages(void **state)
{
    (void)state;
    static const struct {
        const char *equation, *shapes, *message;
    } rows[] = {
        {"ij,jk", "2x3,4x5", "E_SIZE: operand 1 label 'j' is 4, expected 3"},
        {"ii", "2x3", "E_DIAGONAL: operand 0 label 'i' is 2 at axis 0 and 3 at axis 1"},
        {"ij->k", "2x3", "E_OUTPUT_UNKNOWN: output label 'k' is in no operand"},
        {"ij", "2", "E_RANK: operand 0 has rank 1, its term 2 labels"},
        {"i,j", "2", "E_OPERAND_COUNT: 2 terms, 1 operand"},
        {"...,...", "2x3,2", "E_ELLIPSIS_BROADCAST: operand 1 axis 0 (ellipsis) is 2, expected 3 or 1"},
        {"i\\tj", "2x3", "E_CHAR: byte 0x09 at 1 is not a letter"},
    };
    einsum_case one;
    for (size_t i = 0; i < COUNT(rows); i++) {
        einsum_case_make(rows[i].equation, rows[i].shapes, &one);
        CHECK_FAILS(clfi_einsum_parse(one.equation, one.shape, one.count, &form), CLF_INVALID_ARGUMENT, rows[i].message);
    }
}

static void bad_pointers(void **state)
{
    (void)state;
    const int64_t dim[] = {2, -1};
    const clf_einsum_shape good = {1, dim}, negative = {2, dim}, missing = {2, NULL}, odd = {-1, dim};
    CHECK_FAILS(clfi_einsum_parse(NULL, &good, 1, &form), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
    CHECK_FAILS(clfi_einsum_parse("i", NULL, 1, &form), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
    CHECK_FAILS(clfi_einsum_parse("i", &good, 0, &form), CLF_INVALID_ARGUMENT, "E_OPERAND_COUNT");
    CHECK_FAILS(clfi_einsum_parse("i", &good, -1, &form), CLF_INVALID_ARGUMENT, "E_OPERAND_COUNT");
    CHECK_FAILS(clfi_einsum_parse("ij", &negative, 1, &form), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
    CHECK_FAILS(clfi_einsum_parse("ij", &missing, 1, &form), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
    CHECK_FAILS(clfi_einsum_parse("ij", &odd, 1, &form), CLF_INVALID_ARGUMENT, "E_ARGUMENT");
}

/* Operands of 2^40 elements exist as broadcast views, so element counts may overflow where no memory does. */
static void overflow(void **state)
{
    (void)state;
    const int64_t large[] = {INT64_C(1) << 40, 0};
    const clf_einsum_shape shapes[] = {{1, large}, {1, large}, {2, large}};
    CHECK_FAILS(clfi_einsum_parse("i,j->ij", shapes, 2, &form), CLF_UNSUPPORTED, "E_OVERFLOW");
    CHECK_OK(clfi_einsum_parse("i,i->i", shapes, 2, &form));
    CHECK_OK(clfi_einsum_parse("i,j,kl->ijkl", shapes, 3, &form)); /* empty, so it fits */
    assert_int_equal(form.output_elements, 0);
}

/* The letters of two operands and an ellipsis of rank 16 use all 68 labels. */
static void all_labels(void **state)
{
    (void)state;
    einsum_case one;
    einsum_case_make("abcdefghijklm,nopqrstuvwxyz,ABCDEFGHIJKLM,NOPQRSTUVWXYZ,...->aZ",
                     "2x1x1x1x1x1x1x1x1x1x1x1x1,1x1x1x1x1x1x1x1x1x1x1x1x1,1x1x1x1x1x1x1x1x1x1x1x1x1,1x1x1x1x1x1x1x1x1x1x1x1x3,"
                     "1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2",
                     &one);
    CHECK_OK(clfi_einsum_parse(one.equation, one.shape, one.count, &form));
    assert_int_equal(form.ellipsis_rank, 16);
    for (int label = 0; label < CLFI_EINSUM_MAX_LABELS; label++)
        assert_true(labels_has(form.used, label));
    assert_int_equal(form.size[CLFI_EINSUM_MAX_LABELS - 1], 2);
    assert_int_equal(form.output_dim[1], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),       cmocka_unit_test(reference), cmocka_unit_test(messages),
        cmocka_unit_test(bad_pointers), cmocka_unit_test(overflow),  cmocka_unit_test(all_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
