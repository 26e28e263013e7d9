/* SPDX-License-Identifier: MIT */
/* Interoperation: a context on the caller's OpenCL context and queue, the caller's commands on a tensor's memory between the library's,
 * refusals. */
#include "clformer/opencl.h"

#include <time.h>

#include "clformer/softmax.h"
#include "runtime/context.h"
#include "support/check.h"
#include "support/device.h"

enum { ROWS = 3, KEYS = 5 };

/* OpenCL objects that a program has before it calls the library. */
typedef struct own_opencl {
    cl_context context;
    cl_command_queue queue;
} own_opencl;

static own_opencl own_create(const clf_context *model, cl_command_queue_properties properties)
{
    own_opencl own;
    cl_int code;
    own.context = clCreateContext(NULL, 1, &model->device.id, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    own.queue = clCreateCommandQueue(own.context, model->device.id, properties, &code);
    if (code != CL_SUCCESS)
        own.queue = NULL;
    return own;
}

static void own_release(own_opencl own)
{
    if (own.queue)
        clReleaseCommandQueue(own.queue);
    clReleaseContext(own.context);
}

/* The queue's references once nothing but the caller's is left, or after five seconds those that somebody still holds. An implementation's
 * own thread may hold the queue for a moment after clFinish has returned. Mesa's does, through its events. */
static cl_uint references_settled(cl_command_queue queue)
{
    cl_uint references = 0;
    for (int milliseconds = 0; milliseconds < 5000; milliseconds++) {
        assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof references, &references, NULL), CL_SUCCESS);
        if (references == 1)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return references;
}

static void test_callers_queue(void **state)
{
    own_opencl own = own_create(*state, 0);
    clf_context *context;
    clf_tensor *x, *rows, *y;
    float scores[ROWS * KEYS], weights[2 * KEYS];
    size_t offset = 0;
    assert_non_null(own.queue);
    CHECK_OK(clf_context_create_from_opencl(NULL, own.context, own.queue, &context));
    assert_ptr_equal(clf_context_opencl(context), own.context);
    assert_ptr_equal(clf_context_queue(context), own.queue);
    assert_string_equal(clf_context_device(context)->name, clf_context_device(*state)->name);

    for (int i = 0; i < ROWS * KEYS; i++)
        scores[i] = logf((float)(i % KEYS + 1));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){ROWS, KEYS}, &x));
    CHECK_OK(clf_tensor_slice(x, 0, 1, 2, 1, &rows));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){2, KEYS}, &y));
    const cl_mem memory = clf_tensor_opencl(rows, &offset);
    assert_ptr_equal(memory, clf_tensor_opencl(x, NULL));
    assert_int_equal(offset, KEYS * sizeof(float));

    /* The caller's write, the library's kernel and the caller's read follow each other in the one queue. */
    cl_int code = clEnqueueWriteBuffer(own.queue, memory, CL_FALSE, offset, sizeof weights, scores, 0, NULL, NULL);
    assert_int_equal(code, CL_SUCCESS);
    CHECK_OK(clf_softmax(context, rows, NULL, y));
    code = clEnqueueReadBuffer(own.queue, clf_tensor_opencl(y, &offset), CL_TRUE, 0, sizeof weights, weights, 0, NULL, NULL);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(offset, 0);
    for (int i = 0; i < 2 * KEYS; i++)
        CHECK(within(weights[i], (i % KEYS + 1) / 15.0, 1e-6), "weight %d: %.9g", i, (double)weights[i]);

    clf_tensor_destroy(x);
    clf_tensor_destroy(rows);
    clf_tensor_destroy(y);
    clf_context_destroy(context);
    assert_int_equal(clFinish(own.queue), CL_SUCCESS); /* the caller's objects still work */
    assert_int_equal(references_settled(own.queue), 1);
    own_release(own);
}

static void test_refusals(void **state)
{
    clf_context *context = NULL;
    own_opencl own = own_create(*state, 0), other = own_create(*state, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    CHECK_FAILS(clf_context_create_from_opencl(NULL, NULL, own.queue, &context), CLF_INVALID_ARGUMENT, "NULL");
    CHECK_FAILS(clf_context_create_from_opencl(NULL, own.context, NULL, &context), CLF_INVALID_ARGUMENT, "NULL");
    CHECK_FAILS(clf_context_create_from_opencl(NULL, own.context, own.queue, NULL), CLF_INVALID_ARGUMENT, "NULL");
    CHECK_FAILS(clf_context_create_from_opencl(NULL, other.context, own.queue, &context), CLF_INVALID_ARGUMENT, "another OpenCL context");
    if (other.queue) /* devices need not have such queues */
        CHECK_FAILS(clf_context_create_from_opencl(NULL, other.context, other.queue, &context), CLF_INVALID_ARGUMENT, "out of order");
    assert_null(context);
    own_release(own);
    own_release(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callers_queue),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("opencl", tests, device_setup, device_teardown);
}
