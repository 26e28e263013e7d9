/* SPDX-License-Identifier: MIT */
/* Buffers that last: each has its own bytes whatever comes and goes beside it, stays until the queue has done with it, and gives its place
 * back. */
#include <dlfcn.h>
#include <stdlib.h>

#include "runtime/buffer.h"
#include "support/check.h"
#include "support/device.h"
#include "support/late_event.h"

enum { COUNT = 40, LARGEST = 6 << 20, HUGE_PAGE = 2 << 20 };

static int chunks; /* that were allocated */

/* In place of the C library's, for the library's objects as well. */
void *aligned_alloc(size_t alignment, size_t size)
{
    void *(*real)(size_t, size_t) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "aligned_alloc");
    chunks += alignment == HUGE_PAGE;
    return real(alignment, size);
}

static size_t size_of(int number)
{
    return number % 10 == 9 ? LARGEST : (size_t)(number * 7919 % 61 + 1) * 4001;
}

static void fill(char *bytes, size_t size, int number)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 31 + i / 4096 + (size_t)number * 17);
}

static clf_buffer *create(clf_context *context, int number, char *bytes)
{
    clf_buffer *buffer = NULL;
    CHECK_OK(clfi_buffer_create_lasting(context, size_of(number), &buffer));
    assert_non_null(buffer);
    assert_int_equal(buffer->size_bytes, size_of(number));
    fill(bytes, size_of(number), number);
    CHECK_OK(clfi_buffer_write(buffer, 0, bytes, size_of(number)));
    return buffer;
}

static void test_bytes_of_each(void **state)
{
    clf_context *context = *state;
    clf_buffer *buffers[COUNT];
    char *bytes = malloc(LARGEST), *found = malloc(LARGEST);
    for (int i = 0; i < COUNT; i++)
        buffers[i] = create(context, i, bytes);
    for (int i = 0; i < COUNT; i += 2) {
        clfi_buffer_release(buffers[i]);
        buffers[i] = create(context, i, bytes);
    }
    for (int i = 0; i < COUNT; i++) {
        fill(bytes, size_of(i), i);
        CHECK_OK(clfi_buffer_read(buffers[i], 0, found, size_of(i)));
        assert_memory_equal(found, bytes, size_of(i));
        clfi_buffer_release(buffers[i]);
    }
    free(bytes);
    free(found);
}

/* A copy that waits while its source is released, and others take memory. */
static void test_release_while_queued(void **state)
{
    clf_context *context = *state;
    const int large = 9, small = 8;
    char *bytes = malloc(LARGEST), *found = malloc(LARGEST);
    for (int k = 0; k < 2; k++) {
        const int number = k ? large : small;
        clf_buffer *source = create(context, number, bytes), *target, *other;
        CHECK_OK(clfi_buffer_create(context, size_of(number), &target));
        late_event late;
        const cl_event event = late_event_create(context->opencl, &late);
        assert_int_equal(clEnqueueCopyBuffer(context->queue, source->memory, target->memory, 0, 0, size_of(number), 1, &event, NULL),
                         CL_SUCCESS);
        clfi_buffer_release(source);
        CHECK_OK(clfi_buffer_create_lasting(context, size_of(number), &other));
        late_event_start(&late);
        fill(found, size_of(number), number + 1);
        CHECK_OK(clfi_buffer_write(other, 0, found, size_of(number)));
        late_event_end(&late);
        CHECK_OK(clfi_buffer_read(target, 0, found, size_of(number)));
        assert_memory_equal(found, bytes, size_of(number));
        clfi_buffer_release(target);
        clfi_buffer_release(other);
    }
    free(bytes);
    free(found);
}

/* When nobody else holds a piece of a chunk, the next buffer begins at its start. */
static void test_place_is_used_again(void **state)
{
    (void)state;
    char *bytes = malloc(LARGEST);
    clf_context *context;
    CHECK_OK(clf_context_create(NULL, &context));
    chunks = 0;
    for (int i = 0; i < 600; i++) {
        clf_buffer *buffer = create(context, 8, bytes);
        CHECK_OK(clf_context_finish(context));
        clfi_buffer_release(buffer);
    }
    assert_int_equal(chunks, context->device.caps.uses_host_memory);
    clf_context_destroy(context);
    free(bytes);
}

/* The last buffer ends the context, and what it took from it. */
static void test_context_ends_first(void **state)
{
    (void)state;
    char *bytes = malloc(LARGEST);
    clf_context *context;
    CHECK_OK(clf_context_create(NULL, &context));
    clf_buffer *buffers[] = {create(context, 1, bytes), create(context, 9, bytes)};
    clf_context_destroy(context);
    for (int i = 0; i < 2; i++)
        clfi_buffer_release(buffers[i]);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_each),
        cmocka_unit_test(test_release_while_queued),
        cmocka_unit_test(test_place_is_used_again),
        cmocka_unit_test(test_context_ends_first),
    };
    return cmocka_run_group_tests_name("runtime.huge_pages", tests, device_setup, device_teardown);
}
