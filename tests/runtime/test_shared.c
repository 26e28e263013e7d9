/* SPDX-License-Identifier: MIT */
/* Contexts that share a cl_context: programs are built once whichever thread asks, each has its own queue and statistics, any may go first.
 * And slots. */
#include "clformer/opencl.h"

#include <pthread.h>

#include "clformer/ops.h"
#include "clformer/softmax.h"
#include "clformer/tensor.h"
#include "runtime/context.h"
#include "runtime/slot.h"
#include "support/check.h"
#include "support/device.h"

enum { ROUNDS = 20, KEYS = 48 };

/* NULL, or what failed. */
static void *work(void *argument)
{
    clf_context *context = argument;
    const int64_t dim[1] = {KEYS};
    float values[KEYS];
    for (int round = 0; round < ROUNDS; round++) {
        clf_tensor *x = NULL;
        float sum = 0;
        for (int i = 0; i < KEYS; i++)
            values[i] = (float)(i % 7 + round);
        if (clf_tensor_create_from(context, CLF_F32, 1, dim, values, &x) != CLF_OK || clf_softmax(context, x, NULL, x) != CLF_OK ||
            clf_rms_norm(context, x, NULL, x) != CLF_OK || clf_softmax(context, x, NULL, x) != CLF_OK ||
            clf_tensor_read_f32(x, values, KEYS) != CLF_OK)
            return strdup(clf_last_error());
        clf_tensor_destroy(x);
        for (int i = 0; i < KEYS; i++)
            sum += values[i];
        if (!within(sum, 1, 1e-5))
            return strdup("wrong numbers");
    }
    return NULL;
}

static uint64_t programs(const clf_context *context)
{
    clf_context_stats stats;
    clf_context_get_stats(context, &stats);
    return stats.programs_built + stats.programs_from_cache;
}

static void test_programs_are_shared(void **state)
{
    clf_context *contexts[2] = {NULL};
    pthread_t threads[2];
    void *failure;
    CHECK_OK(clf_context_create(NULL, &contexts[0]));
    CHECK_OK(clf_context_create_shared(contexts[0], &contexts[1]));
    assert_ptr_equal(clf_context_opencl(contexts[0]), clf_context_opencl(contexts[1]));
    assert_ptr_not_equal(clf_context_queue(contexts[0]), clf_context_queue(contexts[1]));
    assert_string_equal(clf_context_device(contexts[0])->name, clf_context_device(contexts[1])->name);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, contexts[i]), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], &failure), 0);
        CHECK(!failure, "thread %d: %s", i, (char *)failure);
    }
    const uint64_t both = programs(contexts[0]) + programs(contexts[1]);
    CHECK(both > 0, "no program was made");
    clf_context_destroy(contexts[0]); /* the other one needs nothing of it */
    failure = work(contexts[1]);
    CHECK(!failure, "after the first context: %s", (char *)failure);
    clf_context *alone = *state;
    const uint64_t before = programs(alone);
    assert_null(work(alone));
    assert_int_equal(programs(alone) - before, both);
    clf_context_destroy(contexts[1]);
}

static void test_tensors_stay(void **state)
{
    clf_context *context = *state, *other;
    clf_tensor *x;
    const int64_t dim[1] = {KEYS};
    CHECK_OK(clf_context_create_shared(context, &other));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 1, dim, &x));
    CHECK_FAILS(clf_softmax(other, x, NULL, x), CLF_INVALID_ARGUMENT, "belongs to another context");
    clf_tensor_destroy(x);
    clf_context_destroy(other);
}

static char cleared[8];

static void clear_letter(void *content)
{
    strcat(cleared, content);
}

static void test_slots(void **state)
{
    static const clf_slot_type first = {"first", 2, clear_letter}, second = {"second", 2, clear_letter}, plain = {"plain", 64, NULL};
    clf_context *context;
    char *letter, *again;
    CHECK_OK(clf_context_create_shared(*state, &context));
    CHECK_OK(clfi_slot_get(context, &first, &letter));
    assert_true(letter[0] == 0 && letter[1] == 0);
    letter[0] = 'a';
    CHECK_OK(clfi_slot_get(context, &plain, &letter));
    CHECK_OK(clfi_slot_get(context, &second, &letter));
    letter[0] = 'b';
    CHECK_OK(clfi_slot_get(context, &first, &again));
    assert_string_equal(again, "a");
    clf_context_destroy(context);
    assert_string_equal(cleared, "ba");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_are_shared),
        cmocka_unit_test(test_tensors_stay),
        cmocka_unit_test(test_slots),
    };
    return cmocka_run_group_tests_name("runtime.shared", tests, device_setup, device_teardown);
}
