/* SPDX-License-Identifier: MIT */
/* Programs that a rehearsal finds missing are built before the work, at once where the device's compiler may run in several threads; what
 * cannot be built fails where it is launched, with the compiler's words. */
#include "runtime/rehearsal.h"

#include "runtime/context.h"
#include "runtime/launch.h"
#include "support/check.h"
#include "support/device.h"

enum { VARIANTS = 12 };

#define FILE_OF(path, text) {path, text, sizeof text - 1}

static const clf_kernel_file files[] = {
    FILE_OF("any/variant.cl", "__kernel void variant(__global int *x)\n{\n    x[NUMBER] = 3 * NUMBER + 1;\n}\n"),
    FILE_OF("any/faulty.cl", "__kernel void faulty(__global int *x)\n{\n    x[0] = no_such_thing;\n}\n"),
};
static const clf_kernel_set own = {files, COUNT(files)};

typedef struct variants {
    clf_context *context;
    clf_buffer *x;
    int faulty_at; /* where the faulty kernel stands between the variants; -1: nowhere */
} variants;

static clf_status launch(const variants *v, const char *file, const char *kernel, int number)
{
    clf_kernel_spec spec = clfi_kernel_spec(file, kernel);
    spec.own = &own;
    clfi_spec_int(&spec, "NUMBER", number);
    clf_launch one = clfi_launch(v->context, &spec);
    clfi_arg_buffer(&one, v->x);
    return clfi_launch_1d(&one, 1, 1);
}

static clf_status work(void *user)
{
    const variants *v = user;
    for (int i = 0; i < VARIANTS; i++) {
        if (i == v->faulty_at)
            CLF_TRY(launch(v, "faulty.cl", "faulty", i));
        CLF_TRY(launch(v, "variant.cl", "variant", i));
    }
    return CLF_OK;
}

static void check_variants(variants *v)
{
    cl_int got[VARIANTS] = {0};
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    params.cache_dir = ""; /* what a cache has is not supported */
    CHECK_OK(clf_context_create(&params, &v->context));
    CHECK_OK(clfi_buffer_create(v->context, sizeof got, &v->x));
    CHECK_OK(clfi_buffer_write(v->x, 0, got, sizeof got));
    CHECK_OK(clfi_rehearse(v->context, work, v));
    const bool is_serial = v->context->device.caps.serial_compiler;
    const int built = (int)v->context->stats.programs_built, expected = (int)v->context->builds_expected;
    CHECK(expected == VARIANTS + (v->faulty_at >= 0), "%d programs expected", expected);
    CHECK(built == (is_serial ? 0 : VARIANTS), "%d programs built by the rehearsal", built);
    if (v->faulty_at >= 0) {
        CHECK_FAILS(work(v), CLF_BUILD, "faulty");
        v->faulty_at = -1;
    }
    CHECK_OK(work(v));
    CHECK(v->context->stats.programs_built == VARIANTS, "%d programs built in all", (int)v->context->stats.programs_built);
    CHECK_OK(clfi_buffer_read(v->x, 0, got, sizeof got));
    for (int i = 0; i < VARIANTS; i++)
        CHECK(got[i] == 3 * i + 1, "variant %d: %d", i, got[i]);
    clfi_buffer_release(v->x);
    clf_context_destroy(v->context);
}

static void test_programs_are_built_before_the_work(void **state)
{
    (void)state;
    for (int faulty_at = -1; faulty_at < VARIANTS; faulty_at += 6) {
        variants v = {.faulty_at = faulty_at};
        check_variants(&v);
    }
}

/* Counts the items that were done, and not only rehearsed. */
typedef struct counted {
    variants *variants;
    int done[VARIANTS];
} counted;

/* Items 2 i and 2 i + 1 launch the same kernel. */
static clf_status work_item(void *user, size_t item)
{
    counted *c = user;
    c->done[item] += !c->variants->context->rehearsal;
    return launch(c->variants, "variant.cl", "variant", (int)item / 2);
}

/* An item is done if it is the first to ask for a kernel that was not launched yet. */
static void test_items_are_done_for_new_kernels(void **state)
{
    variants v = {.context = *state};
    counted c = {.variants = &v};
    CHECK_OK(clfi_buffer_create(v.context, VARIANTS * sizeof(cl_int), &v.x));
    CHECK_OK(launch(&v, "variant.cl", "variant", 0));
    for (int round = 0; round < 2; round++)
        CHECK_OK(clfi_rehearse_all(v.context, work_item, &c, VARIANTS));
    for (int i = 0; i < VARIANTS; i++)
        CHECK(c.done[i] == (i > 0 && i % 2 == 0), "item %d was done %d times", i, c.done[i]);
    CHECK_OK(clf_context_finish(v.context));
    clfi_buffer_release(v.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_are_built_before_the_work),
        cmocka_unit_test(test_items_are_done_for_new_kernels),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
