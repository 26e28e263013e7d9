/* SPDX-License-Identifier: MIT */
/* Contexts that share a cl_context: programs are built once whichever thread asks, each has its own queue and statistics, any may go first.
 * And slots. */
#include "clformer/opencl.h"

#include <pthread.h>
#include <stdlib.h>

#include "clformer/attention.h"
#include "clformer/linear.h"
#include "clformer/ops.h"
#include "clformer/softmax.h"
#include "clformer/tensor.h"
#include "clformer/transformer.h"
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

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

/* Whatever the environment says by then. */
static void test_settings(void **state)
{
    clf_context *first, *second;
    const clf_context_params params = {.size = sizeof params, .precision = CLF_PRECISION_HIGH, .profile = 1, .engines = "softmax=vector"};
    (void)state;
    setenv("CLF_GRAPH", "0", 1);
    CHECK_OK(clf_context_create(&params, &first));
    unsetenv("CLF_GRAPH");
    CHECK_OK(clf_context_create_shared(first, &second));
    assert_int_equal(first->graphs, CLFI_GRAPHS_NEVER);
    assert_int_equal(second->graphs, first->graphs);
    assert_int_equal(second->precision, first->precision);
    assert_string_equal(second->engines, first->engines);
    assert_true(second->profile && second->profile != first->profile);
    assert_true(second->log == first->log && second->log_user == first->log_user && second->log_level == first->log_level &&
                second->logs_to_stderr == first->logs_to_stderr);
    assert_true(is_same(second->kernel_dir, first->kernel_dir) && is_same(second->kernel_dump, first->kernel_dump) &&
                is_same(second->tuned_file, first->tuned_file));
    clf_context_destroy(first);
    clf_context_destroy(second);
}

/* Layers go with every context that shares the one they were made on, and with no other. */
static void test_layers(void **state)
{
    static const float values[4] = {1, 2, 3, 4};
    const int64_t dim[3] = {1, 2, 2};
    clf_context *context = *state, *shared, *foreign;
    clf_tensor *w, *x, *y;
    clf_linear *linear;
    clf_feed_forward_network *network;
    clf_multi_head_attention *attention;
    float got[4];
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, dim + 1, values, &w));
    const clf_multi_head_attention_weights weights = {.size = sizeof weights, .w_q = w, .w_k = w, .w_v = w, .w_o = w};
    CHECK_OK(clf_linear_create(context, w, NULL, &linear));
    CHECK_OK(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w, NULL, NULL, NULL, w, NULL, &network));
    CHECK_OK(clf_multi_head_attention_create(context, 1, &weights, &attention));
    CHECK_OK(clf_context_finish(context));
    CHECK_OK(clf_context_create_shared(context, &shared));
    CHECK_OK(clf_context_create(NULL, &foreign));
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        clf_context *on = is_shared ? shared : foreign;
        CHECK_OK(clf_tensor_create_from(on, CLF_F32, 3, dim, values, &x));
        CHECK_OK(clf_tensor_create(on, CLF_F32, 3, dim, &y));
        if (is_shared) {
            CHECK_OK(clf_linear_apply(on, linear, x, CLF_ACTIVATION_NONE, NULL, y));
            CHECK_OK(clf_tensor_read_f32(y, got, 4));
            assert_true(got[0] == 5 && got[1] == 11 && got[2] == 11 && got[3] == 25); /* x W^T */
            CHECK_OK(clf_feed_forward_apply(on, network, x, y));
            CHECK_OK(clf_tensor_read_f32(y, got, 4));
            assert_true(got[0] == 27 && got[1] == 59 && got[2] == 61 && got[3] == 133); /* relu(x W^T) W^T */
            CHECK_OK(clf_multi_head_attention_apply(on, attention, x, x, x, NULL, y));
            CHECK_OK(clf_tensor_read_f32(y, got, 4));
            assert_true(within(got[2], 61, 1e-3) && within(got[3], 133, 1e-3)); /* the second key has all the weight */
        } else {
            CHECK_FAILS(clf_linear_apply(NULL, linear, x, CLF_ACTIVATION_NONE, NULL, y), CLF_INVALID_ARGUMENT, "linear: context is NULL");
            CHECK_FAILS(clf_linear_apply(on, linear, x, CLF_ACTIVATION_NONE, NULL, y), CLF_INVALID_ARGUMENT, "another context");
            CHECK_FAILS(clf_feed_forward_apply(on, network, x, y), CLF_INVALID_ARGUMENT, "another context");
            CHECK_FAILS(clf_multi_head_attention_apply(on, attention, x, x, x, NULL, y), CLF_INVALID_ARGUMENT, "another context");
        }
        clf_tensor_destroy(x);
        clf_tensor_destroy(y);
    }
    clf_multi_head_attention_destroy(attention);
    clf_feed_forward_destroy(network);
    clf_linear_destroy(linear);
    clf_tensor_destroy(w);
    clf_context_destroy(shared);
    clf_context_destroy(foreign);
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
        cmocka_unit_test(test_programs_are_shared), cmocka_unit_test(test_settings), cmocka_unit_test(test_layers),
        cmocka_unit_test(test_tensors_stay),        cmocka_unit_test(test_slots),
    };
    return cmocka_run_group_tests_name("runtime.shared", tests, device_setup, device_teardown);
}
