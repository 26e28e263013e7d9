/* SPDX-License-Identifier: MIT */
/* Whatever is let go while a queue still works waits for that queue first: kernels may read its weights from memory that goes with it.
 * Work that is pending is made certain by a barrier on the queue that ends only after a while; each test looks whether it has ended. */
#include "clformer/clformer.h"

#include <dlfcn.h>
#include <unistd.h>

#include "model/decode_batch.h"
#include "model/model.h"
#include "model/transformer.h"
#include "support/check.h"
#include "support/device.h"
#include "support/late_event.h"
#include "support/small_transformer.h"
#include "support/temp.h"

static const char distilbert[] = CLF_TEST_DATA "/families/distilbert";

static late_event late; /* the end of what is pending */

static void queue_works(cl_command_queue queue)
{
    cl_context context;
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, (void *)&context, NULL), CL_SUCCESS);
    const cl_event event = late_event_create(context, &late);
    assert_int_equal(clEnqueueBarrierWithWaitList(queue, 1, &event, NULL), CL_SUCCESS);
    late_event_start(&late);
}

static bool queue_worked(void)
{
    cl_int status;
    assert_int_equal(clGetEventInfo(late.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL), CL_SUCCESS);
    late_event_end(&late);
    return status == CL_COMPLETE;
}

static bool every_launch_is_pending; /* for a while, whatever the device */
static size_t launches;

/* In place of the driver's, for the library's objects as well. */
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global,
                              const size_t *local, cl_uint count, const cl_event *wait, cl_event *event)
{
    __typeof__(clEnqueueNDRangeKernel) *real = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    const cl_int code = real(queue, kernel, dims, offset, global, local, count, wait, event);
    if (every_launch_is_pending) {
        if (launches++ > 0)
            late_event_end(&late);
        queue_works(queue);
    }
    return code;
}

static clf_context *shared_with(clf_context *context)
{
    clf_context *other;
    CHECK_OK(clf_context_create_shared(context, &other));
    return other;
}

static void test_model(void **state)
{
    clf_context *context = *state;
    clf_model *model;
    CHECK_OK(clf_model_open(context, distilbert, NULL, &model));
    queue_works(context->queue);
    clf_model_destroy(model);
    assert_true(queue_worked());
}

/* A session has a queue of its own. The model goes last: by then the session's queue must have ended. */
static void test_session(void **state)
{
    clf_context *context = *state, *other = shared_with(context);
    clf_model *model;
    clf_session *session;
    CHECK_OK(clf_model_open(context, distilbert, NULL, &model));
    CHECK_OK(clf_session_create(model, other, &session));
    queue_works(other->queue);
    clf_session_destroy(session);
    assert_true(queue_worked());
    clf_model_destroy(model);
    clf_context_destroy(other);
}

static void test_transformer(void **state)
{
    clf_context *context = *state, *other = shared_with(context);
    clf_transformer *transformer, *second;
    CHECK_OK(clf_transformer_create_random(context, &base_config, 7, &transformer));
    CHECK_OK(clf_transformer_create_shared(transformer, other, &second));
    queue_works(other->queue);
    clf_transformer_destroy(second);
    assert_true(queue_worked());
    queue_works(context->queue);
    clf_transformer_destroy(transformer);
    assert_true(queue_worked());
    clf_context_destroy(other);
}

/* The last reference, from whichever object, waits for the queue on which the weights were packed. */
static void test_network(void **state)
{
    clf_context *context = *state;
    clf_transformer *transformer;
    CHECK_OK(clf_transformer_create_random(context, &base_config, 7, &transformer));
    clf_network *network = clfi_network_retain(transformer->network);
    clf_transformer_destroy(transformer);
    queue_works(context->queue);
    clfi_network_destroy(network);
    assert_true(queue_worked());
}

static void test_decode_batch(void **state)
{
    clf_context *context = *state, *other = shared_with(context);
    clf_transformer *transformer;
    clf_decode_batch *batch;
    CHECK_OK(clf_transformer_create_random(context, &base_config, 7, &transformer));
    CHECK_OK(clfi_decode_create(other, transformer->network, CLF_F32, &batch));
    queue_works(other->queue);
    clfi_decode_destroy(batch);
    assert_true(queue_worked());
    clf_transformer_destroy(transformer);
    clf_context_destroy(other);
}

static void test_pronouncer(void **state)
{
    clf_context *context = *state, *other = shared_with(context);
    clf_pronouncer *pronouncer, *second;
    CHECK_OK(clf_pronouncer_open(context, NULL, &pronouncer));
    CHECK_OK(clf_pronouncer_create_shared(pronouncer, other, &second));
    queue_works(other->queue);
    clf_pronouncer_destroy(second);
    assert_true(queue_worked());
    clf_pronouncer_destroy(pronouncer);
    clf_context_destroy(other);
}

static void test_context(void **state)
{
    clf_context *other = shared_with(*state);
    queue_works(other->queue);
    clf_context_destroy(other);
    assert_true(queue_worked());
}

/* Its tokenizer cannot be read, which is found after the kernels that pack its weights were queued. */
static void test_model_that_fails_to_load(void **state)
{
    static const char *const links[] = {"config.json", "model.safetensors"};
    char target[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_model *model;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        assert_int_equal(symlink(temp_path(distilbert, links[i], target), temp_path(temp_root, links[i], path)), 0);
    temp_file(temp_root, "tokenizer.json", "{", 1, path);
    launches = 0;
    every_launch_is_pending = true;
    CHECK_FAILS(clf_model_open(*state, temp_root, NULL, &model), CLF_FORMAT, "tokenizer.json");
    every_launch_is_pending = false;
    CHECK(launches > 0, "no weights were packed before the failure");
    assert_true(queue_worked());
}

static int setup(void **state)
{
    return temp_setup(state) || device_setup(state);
}

static int teardown(void **state)
{
    return device_teardown(state) || temp_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),        cmocka_unit_test(test_session),
        cmocka_unit_test(test_transformer),  cmocka_unit_test(test_network),
        cmocka_unit_test(test_decode_batch), cmocka_unit_test(test_pronouncer),
        cmocka_unit_test(test_context),      cmocka_unit_test(test_model_that_fails_to_load),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
