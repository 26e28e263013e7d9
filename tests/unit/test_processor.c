/* SPDX-License-Identifier: MIT */
/* The operating system's permission for AMX: asked once, and refused with a reason where the processor has no such registers. */
#include "runtime/processor.h"
#include "support/check.h"

static void test_permission(void **state)
{
    (void)state;
    const clf_status first = clfi_processor_permit_tiles();
    if (clfi_processor_has_bf16_tiles()) {
        assert_int_equal(clfi_processor_permit_tiles(), first);
    } else {
        CHECK_FAILS(first, CLF_UNSUPPORTED, "AMX");
        CHECK_FAILS(clfi_processor_permit_tiles(), CLF_UNSUPPORTED, "AMX");
    }
}

/* Only processors with AVX-512 have either. */
static void test_byte_dot(void **state)
{
    (void)state;
    assert_false(clfi_processor_has_byte_dot(4));
    if (clfi_processor_has_bf16_dot() || clfi_processor_has_bf16_tiles())
        assert_true(clfi_processor_has_byte_dot(8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_permission), cmocka_unit_test(test_byte_dot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
