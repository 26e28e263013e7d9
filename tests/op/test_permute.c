/* SPDX-License-Identifier: MIT */
/* Permutations in tiles: sizes around the tiles, other axes, storage types, strides; exact. */
#include <stdio.h>

#include "kernel/permute.h"
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"

typedef struct permute_case {
    int64_t outer[2], q, p; /* in [outer0, outer1, q, p] -> out [outer1, outer0, p, q] */
    clf_dtype in, out;
} permute_case;

static const permute_case cases[] = {
    {{1, 1}, 8, 8, CLF_F32, CLF_F32},    {{1, 1}, 16, 16, CLF_F32, CLF_F32},   {{1, 1}, 17, 33, CLF_F32, CLF_F32},
    {{2, 3}, 9, 40, CLF_F32, CLF_F32},   {{3, 2}, 33, 15, CLF_F16, CLF_F32},   {{2, 1}, 31, 65, CLF_F32, CLF_BF16},
    {{1, 5}, 64, 300, CLF_F16, CLF_F16}, {{4, 2}, 100, 513, CLF_F32, CLF_F32},
};

static void check_case(clf_context *context, const permute_case *one, layout in_layout)
{
    char id[128];
    rng r = {(uint64_t)(one->q * 31 + one->p)};
    const int64_t *outer = one->outer;
    snprintf(id, sizeof id, "permute[%lldx%lldx%lldx%lld %s>%s %s]", (long long)outer[0], (long long)outer[1], (long long)one->q,
             (long long)one->p, clf_dtype_name(one->in), clf_dtype_name(one->out), layout_name(in_layout));
    operand in = operand_create(context, one->in, in_layout, 4, (int64_t[]){outer[0], outer[1], one->q, one->p});
    operand out = operand_create(context, one->out, in_layout, 4, (int64_t[]){outer[1], outer[0], one->p, one->q});
    operand_fill_uniform(&in, &r, -4, 4);
    const clf_view *from = clfi_tensor_view(in.tensor), *to = clfi_tensor_view(out.tensor);
    const int from_axis[] = {1, 0, 3, 2};
    static clf_einsum_loops loops;
    loops = (clf_einsum_loops){.inputs = 1};
    for (int axis = 0; axis < 4; axis++)
        if (to->dim[axis] > 1)
            loops.kept[loops.kept_rank++] =
                (clf_einsum_dim){.size = to->dim[axis], .stride = {from->stride[from_axis[axis]], to->stride[axis]}};
    CHECK(clfi_permute_suits(context, &loops), "%s: declined", id);
    const clf_einsum_memory source = {from->buffer, from->dtype, from->offset}, target = {to->buffer, to->dtype, to->offset};
    const clf_status st = clfi_permute(context, &loops, &source, &target);
    CHECK(st == CLF_OK, "%s: %s", id, clf_last_error());
    operand_read(&out, id);
    size_t at = 0;
    for (int64_t o1 = 0; o1 < outer[1]; o1++)
        for (int64_t o0 = 0; o0 < outer[0]; o0++)
            for (int64_t p = 0; p < one->p; p++)
                for (int64_t q = 0; q < one->q; q++, at++) {
                    const double want = in.value[((o0 * outer[1] + o1) * one->q + q) * one->p + p];
                    const double bound = one->out == CLF_F32 || one->out == one->in ? 0 : operand_rounding(one->out, want);
                    CHECK(within(out.value[at], want, bound), "%s at %zu: %g, want %g", id, at, out.value[at], want);
                }
    operand_destroy(&out);
    operand_destroy(&in);
}

static void tiles(void **state)
{
    const size_t count = only_small_cases() ? 6 : sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        check_case(*state, &cases[i], LAYOUT_CONTIGUOUS);
        check_case(*state, &cases[i], LAYOUT_SLICED);
    }
}

/* Copies that keep the contiguous axis, have none, or are sums are not for tiles. */
static void declines(void **state)
{
    const clf_context *context = *state;
    static clf_einsum_loops loops;
    loops = (clf_einsum_loops){.inputs = 1, .kept_rank = 2, .kept = {{64, {64, 64}}, {64, {1, 1}}}};
    assert_false(clfi_permute_suits(context, &loops));
    loops.kept[0] = (clf_einsum_dim){64, {1, 64}};
    loops.kept[1] = (clf_einsum_dim){64, {64, 1}};
    assert_true(clfi_permute_suits(context, &loops));
    loops.summed_rank = 1;
    assert_false(clfi_permute_suits(context, &loops));
    loops.summed_rank = 0;
    loops.kept[1].size = 4;
    assert_false(clfi_permute_suits(context, &loops));
    loops.kept[1] = (clf_einsum_dim){64, {64, 2}};
    assert_false(clfi_permute_suits(context, &loops));
}

/* A device whose work-groups are smaller than a tile's leaves such copies to the loops. */
static void small_work_groups(void **state)
{
    clf_context *context = *state;
    static const clf_einsum_loops loops = {.inputs = 1, .kept_rank = 2, .kept = {{64, {1, 64}}, {64, {64, 1}}}};
    const clf_device_caps before = context->device.caps;
    context->device.caps.is_cpu = false;
    context->device.caps.max_work_group_size = 128;
    const bool is_taken = clfi_permute_suits(context, &loops);
    context->device.caps.max_work_group_size = 256;
    const bool is_taken_by_larger = clfi_permute_suits(context, &loops);
    context->device.caps = before;
    assert_false(is_taken);
    assert_true(is_taken_by_larger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles),
        cmocka_unit_test(declines),
        cmocka_unit_test(small_work_groups),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
