/* SPDX-License-Identifier: MIT */
/* Tests files that a device uses in place. They stay until the queue has finished with them, for ever where it does not finish. Bytes of a
 * file that changed meanwhile never reach the caller. */
#include "runtime/buffer.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/launch.h"
#include "support/check.h"
#include "support/device.h"
#include "support/late_event.h"
#include "support/temp.h"

enum { SIZE = 1 << 20 };

static cl_command_queue stuck; /* the queue that does not finish */

/* In place of the driver's, for the library's objects as well. */
cl_int clFinish(cl_command_queue queue)
{
    cl_int (*real)(cl_command_queue) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "clFinish");
    return queue == stuck ? CL_OUT_OF_RESOURCES : real(queue);
}

static char *pattern;

/* A file of its own in place, whose mapping nothing but the buffer holds; skips the test where the device has memory of its own. */
static clf_buffer *wrap_file(clf_context *context, const char *name, char path[TEMP_PATH_BYTES])
{
    clf_file_map *map;
    clf_buffer *buffer = NULL;
    temp_file(temp_root, name, pattern, SIZE, path);
    CHECK_OK(clfi_file_map(path, &map));
    if (clfi_buffer_wrap(context, map, &buffer) == CLF_UNSUPPORTED)
        skip();
    assert_non_null(buffer);
    clfi_file_map_release(map);
    return buffer;
}

/* A copy from the file that waits while the buffer is released. (Nothing is flushed, as in the library: Mesa 22.3's clFinish waits only for
 * what was not.) */
static void test_release_while_queued(void **state)
{
    clf_context *context = *state;
    char path[TEMP_PATH_BYTES], *copy = malloc(SIZE);
    clf_buffer *file = wrap_file(context, "queued", path), *device;
    late_event late;
    CHECK_OK(clfi_buffer_create(context, SIZE, &device));
    const cl_event event = late_event_create(context->opencl, &late);
    assert_int_equal(clEnqueueCopyBuffer(context->queue, file->memory, device->memory, 0, 0, SIZE, 1, &event, NULL), CL_SUCCESS);
    late_event_start(&late);
    clfi_buffer_release(file);
    late_event_end(&late);
    CHECK_OK(clfi_buffer_read(device, 0, copy, SIZE));
    assert_memory_equal(copy, pattern, SIZE);
    clfi_buffer_release(device);
    free(copy);
}

/* Contexts that share memory share the kept buffers too, so each test has a context of its own. */
static void test_queue_does_not_finish(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    clf_context *context;
    CHECK_OK(clf_context_create(NULL, &context));
    clf_buffer *file = wrap_file(context, "kept", path);
    const uint8_t *data = file->map->data;
    stuck = context->queue;
    clfi_buffer_release(file);
    stuck = NULL;
    assert_memory_equal(data, pattern, SIZE);
    clf_context_destroy(context);
}

/* A session's queue fails when the session goes; the model's own works when the model goes, later. */
static void test_other_queue_does_not_finish(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    clf_context *context, *session;
    CHECK_OK(clf_context_create(NULL, &context));
    CHECK_OK(clf_context_create_shared(context, &session));
    clf_buffer *file = wrap_file(context, "shared", path);
    const uint8_t *data = file->map->data;
    stuck = session->queue;
    CHECK_FAILS(clf_context_finish(session), CLF_DEVICE_LOST, "clFinish: CL_OUT_OF_RESOURCES");
    clf_context_destroy(session);
    stuck = NULL;
    clfi_buffer_release(file);
    assert_memory_equal(data, pattern, SIZE);
    clf_context_destroy(context);
}

static const char touch[] = "__kernel void touch(__global const uchar *file, __global uchar *out)\n"
                            "{\n    out[get_global_id(0)] = file[get_global_id(0) * 4096];\n}\n";
static const clf_kernel_file files[] = {{"any/touch.cl", touch, sizeof touch - 1}};
static const clf_kernel_set own = {files, 1};

/* A byte of each page, read by a kernel; not on Oclgrind, for which the host's memory is not initialised. */
static clf_status touch_pages(clf_context *context, const clf_buffer *file, const clf_buffer *out)
{
    if (strcmp(context->device.info.platform_name, "Oclgrind") == 0)
        return clEnqueueCopyBuffer(context->queue, file->memory, out->memory, 0, 0, SIZE, 0, NULL, NULL) == CL_SUCCESS ? CLF_OK
                                                                                                                       : CLF_DEVICE;
    clf_kernel_spec spec = clfi_kernel_spec("touch.cl", "touch");
    spec.own = &own;
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, file);
    clfi_arg_buffer(&launch, out);
    return clfi_launch_1d(&launch, SIZE / 4096, 1);
}

static void test_changed_file(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES], byte;
    clf_context *context;
    clf_buffer *device;
    CHECK_OK(clf_context_create(NULL, &context));
    clf_buffer *file = wrap_file(context, "cut", path);
    CHECK_OK(clfi_buffer_create(context, SIZE, &device));
    CHECK_OK(clfi_buffer_write(device, 0, pattern, SIZE));
    CHECK_OK(clfi_buffer_read(device, 0, &byte, 1));
    CHECK_OK(touch_pages(context, file, device));
    CHECK_OK(clfi_buffer_read(device, 0, &byte, 1));
    assert_int_equal(byte, pattern[0]);
    assert_int_equal(truncate(path, 10000), 0);
    CHECK_OK(touch_pages(context, file, device));
    CHECK_FAILS(clfi_buffer_read(device, 0, &byte, 1), CLF_IO, "cut: expected 1048576 bytes");
    assert_int_equal(clEnqueueCopyBuffer(context->queue, file->memory, device->memory, 0, 0, SIZE, 0, NULL, NULL), CL_SUCCESS);
    CHECK_FAILS(clfi_buffer_read(device, 0, &byte, 1), CLF_IO, "cut: expected 1048576 bytes");
    clfi_buffer_release(file);
    CHECK_FAILS(clfi_buffer_read(device, 0, &byte, 1), CLF_IO, "cut: expected 1048576 bytes"); /* what it left behind is no better */
    clfi_buffer_release(device);
    clf_context_destroy(context);
}

static int setup(void **state)
{
    pattern = malloc(SIZE);
    for (int i = 0; pattern && i < SIZE; i++)
        pattern[i] = (char)(i * 31 + i / 4096);
    return pattern && temp_setup(state) == 0 ? device_setup(state) : -1;
}

static int teardown(void **state)
{
    free(pattern);
    return device_teardown(state) || temp_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_release_while_queued),
        cmocka_unit_test(test_queue_does_not_finish),
        cmocka_unit_test(test_other_queue_does_not_finish),
        cmocka_unit_test(test_changed_file),
    };
    return cmocka_run_group_tests_name("runtime.buffer", tests, setup, teardown);
}
