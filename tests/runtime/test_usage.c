/* SPDX-License-Identifier: MIT */
/* Device memory in use and its peak: buffers and regions of the arena, not the arena's blocks; scratch of linear layers by how their
 * engines keep a weight. */
#include "clformer/linear.h"
#include "runtime/arena.h"
#include "runtime/usage.h"
#include "support/check.h"
#include "support/device.h"

static void test_buffers_and_regions(void **state)
{
    clf_context *context = *state;
    clf_buffer *buffer;
    clf_region first, second, third;
    const uint64_t before = clfi_usage_bytes(context);
    const clf_arena_mark bottom = clfi_arena_top(context);
    CHECK_OK(clfi_buffer_create(context, 1000, &buffer));
    assert_int_equal(clfi_usage_bytes(context), before + 1000);
    CHECK_OK(clfi_arena_alloc(context, 300, &first)); /* regions are multiples of 256 bytes, their block at least 2^20 */
    assert_int_equal(clfi_usage_bytes(context), before + 1000 + 512);
    const clf_arena_mark middle = clfi_arena_top(context);
    CHECK_OK(clfi_arena_alloc(context, 3 << 20, &second)); /* a block of its own */
    CHECK_OK(clfi_arena_alloc(context, 1, &third));
    const uint64_t most = before + 1000 + 512 + (3 << 20) + 256;
    assert_int_equal(clfi_usage_bytes(context), most);
    clfi_arena_release(context, middle);
    assert_int_equal(clfi_usage_bytes(context), before + 1000 + 512);
    assert_true(clfi_usage_peak_bytes(context) >= most);
    clfi_usage_restart(context);
    assert_int_equal(clfi_usage_peak_bytes(context), before + 1000 + 512);
    CHECK_OK(clfi_arena_alloc(context, 1 << 20, &second)); /* in a block that is there */
    clfi_arena_release(context, bottom);
    clfi_buffer_release(buffer);
    assert_int_equal(clfi_usage_peak_bytes(context), before + 1000 + 512 + (1 << 20));
    assert_int_equal(clfi_usage_bytes(context), before);
    clfi_usage_restart(context);
    assert_int_equal(clfi_usage_peak_bytes(context), before);
}

/* Regions that needed blocks of their own share one when they come again, as large as all of them together; a block that somebody holds
 * stays. */
static void test_merge(void **state)
{
    clf_context *context;
    CHECK_OK(clf_context_create_shared(*state, &context));
    const size_t mb = 1 << 20, sizes[] = {mb, 3 * mb, 2 * mb, 7 * mb};
    clf_region region, held;
    size_t sum = 0;
    const clf_arena_mark bottom = clfi_arena_top(context);
    for (size_t i = 0; i < COUNT(sizes); i++, sum += sizes[i - 1])
        CHECK_OK(clfi_arena_alloc(context, sizes[i], &region));
    assert_int_equal(context->usage.arena_blocks, sum);
    clfi_arena_release(context, bottom);
    CHECK_OK(clfi_arena_alloc(context, 2 * mb, &held));
    assert_int_equal(context->usage.arena_blocks, sum);
    assert_int_equal(held.buffer->size_bytes, sum);
    const uint64_t made = context->usage.allocations;
    for (size_t i = 1; i < COUNT(sizes); i++)
        CHECK_OK(clfi_arena_alloc(context, sizes[i] / 2, &region));
    clfi_arena_release(context, bottom);
    assert_int_equal(context->usage.allocations, made); /* all of it lies in the one block */
    clfi_buffer_retain(held.buffer);
    clfi_arena_reserve(context, 2 * sum);
    CHECK_OK(clfi_arena_alloc(context, 1, &region));
    assert_ptr_equal(region.buffer, held.buffer);
    clfi_arena_release(context, bottom);
    clfi_buffer_release(held.buffer);
    clfi_arena_reserve(context, 2 * sum);
    assert_int_equal(context->usage.arena_blocks, 2 * sum);
    CHECK_OK(clfi_arena_alloc(context, 2 * sum, &region));
    clfi_arena_release(context, bottom);
    assert_int_equal(context->usage.arena_blocks, 2 * sum);
    clf_context_destroy(context);
}

/* An allocation that fails is not in use, nor is the block that was wanted for it. */
static void test_failure(void **state)
{
    clf_context *context = *state;
    clf_buffer *buffer;
    clf_region region;
    const size_t too_much = (size_t)context->device.caps.max_allocation_bytes + 256;
    const uint64_t before = clfi_usage_bytes(context);
    CHECK_FAILS(clfi_buffer_create(context, too_much, &buffer), CLF_OUT_OF_MEMORY, "largest allocation");
    CHECK_FAILS(clfi_arena_alloc(context, too_much, &region), CLF_OUT_OF_MEMORY, "largest allocation");
    assert_int_equal(clfi_usage_bytes(context), before);
}

/* Bytes that a linear layer with this engine holds beside its weight. */
static uint64_t kept_bytes(clf_context *context, const char *engine, clf_tensor *weight)
{
    char *const engines = context->engines;
    clf_linear *linear;
    const uint64_t before = clfi_usage_bytes(context);
    context->engines = (char *)engine;
    CHECK_OK(clf_linear_create(context, weight, NULL, &linear));
    context->engines = engines;
    const uint64_t kept = clfi_usage_bytes(context) - before;
    clf_linear_destroy(linear);
    assert_int_equal(clfi_usage_bytes(context), before);
    return kept;
}

static void test_packed_copies(void **state)
{
    clf_context *context = *state;
    enum { N = 48, K = 64 };
    clf_tensor *weight;
    float values[N * K];
    for (int i = 0; i < N * K; i++)
        values[i] = (float)(i % 7);
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){N, K}, values, &weight));
    const uint64_t rows = kept_bytes(context, "gemm=gemv", weight);
    CHECK(rows == sizeof values, "its own copy of the rows as they lie: %llu bytes", (unsigned long long)rows);
    const uint64_t both = kept_bytes(context, "gemm=clblast", weight); /* memory that is the host's too holds nothing twice */
    CHECK(both == (context->device.info.unified_memory ? 1 : 2) * sizeof values, "rows and, for CLBlast, their transpose: %llu bytes",
          (unsigned long long)both);
    if (!context->device.caps.slow_compiler) { /* which the engine needs */
        const uint64_t packed = kept_bytes(context, "gemm=packed", weight);
        CHECK(packed >= sizeof values && packed <= 2 * sizeof values, "packed: %llu bytes", (unsigned long long)packed);
    }
    clf_tensor_destroy(weight);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers_and_regions),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_packed_copies),
    };
    return cmocka_run_group_tests_name("usage", tests, device_setup, device_teardown);
}
