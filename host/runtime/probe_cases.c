/* SPDX-License-Identifier: MIT */
/* The table of probes (probe.h): tests that a device computes correctly what it claims to support. Each fills the input x of a small kernel
 * and checks its output y. */
#include "runtime/probe_cases.h"

#include <float.h>
#include <math.h>

#include "base/half.h"
#include "runtime/processor.h"

/* Sums by sub-groups. x, y: float2 [GROUPS * group]. Each family of kernels has a probe for each of its work-group sizes, because compilers
 * err at some sizes only: Intel's at sub-groups of 8 (https://github.com/intel/llvm/issues/6375) and of 32
 * (https://github.com/intel/intel-graphics-compiler/issues/397). */
enum { GROUPS = 3, LARGE_GROUP = 256 };
_Static_assert(GROUPS *LARGE_GROUP * 2 <= CLFI_PROBE_WORDS, "a float2 for each item");

static bool claims_subgroups(const clf_device_caps *caps)
{
    return caps->subgroup_size > 0;
}

static clf_probe_run run_sums(const clf_device_caps *caps, clf_kernel_spec spec, int group)
{
    const int words = GROUPS * group * 2;
    clfi_spec_int(&spec, "WG", group);
    clfi_spec_int(&spec, "SUBGROUPS", caps->subgroup_size);
    return (clf_probe_run){spec, GROUPS, group, words, words};
}

static clf_probe_run run_row_sums(const clf_device_caps *caps, int group)
{
    clf_kernel_spec spec = clfi_kernel_spec("probe_row_sum.cl", "probe_row_sum");
    clfi_spec_int(&spec, "LANES", group);
    return run_sums(caps, spec, group);
}

static clf_probe_run run_group_sums(const clf_device_caps *caps, int group)
{
    clf_kernel_spec spec = clfi_kernel_spec("probe_group_sums.cl", "probe_group_sums");
    clfi_spec_int(&spec, "SUMS", 2);
    return run_sums(caps, spec, group);
}

/* Numbers of both signs whose sums differ from one another. */
static void fill_sums(const clf_probe_run *run, clf_probe_word *x)
{
    for (int i = 0; i < run->x_words; i++)
        x[i].real = (float)(i * 37 % 101 - 40) * 0.125f;
}

/* Each item must hold 3 times the sum of its group, up to the rounding errors of so many additions in any order. */
static bool sums_are_right(const clf_probe_run *run, const clf_probe_word *x, const clf_probe_word *y)
{
    const int group = run->group;
    for (int i = 0; i < run->y_words; i++) {
        const int first = i / (2 * group) * 2 * group + i % 2;
        double sum = 0, size = 0;
        for (int item = 0; item < group; item++) {
            sum += 3.0 * (double)x[first + 2 * item].real;
            size += 3.0 * fabs((double)x[first + 2 * item].real);
        }
        if (!(fabs((double)y[i].real - sum) <= 2 * group * 0x1p-24 * size))
            return false;
    }
    return true;
}

/* Dot products of bytes. x, for each item: the initial sum of each lane, a word of four unsigned bytes for each lane, and one word of four
 * signed bytes for all lanes. */
enum { BYTE_ITEMS = 16, BYTE_LANES = 16, BYTE_WORDS = 2 * BYTE_LANES + 1 };
_Static_assert(BYTE_ITEMS *BYTE_WORDS <= CLFI_PROBE_WORDS, "sums and bytes for each item");

static bool claims_byte_dot(const clf_device_caps *caps)
{
    return caps->has_byte_dot;
}

static clf_probe_run run_byte_dot(const clf_device_caps *caps, int group)
{
    (void)group;
    clf_kernel_spec spec = clfi_kernel_spec("probe_byte_dot.cl", "probe_byte_dot");
    clfi_spec_int(&spec, "WIDTH", BYTE_LANES);
    clfi_spec_int(&spec, "IS_NARROW_DOT", caps->narrow_byte_dot);
    return (clf_probe_run){spec, BYTE_ITEMS, 1, BYTE_ITEMS * BYTE_WORDS, BYTE_ITEMS * BYTE_LANES};
}

/* Fills in bytes of every size. The first two items have the largest products of both signs. */
static void fill_byte_dot(const clf_probe_run *run, clf_probe_word *x)
{
    for (int i = 0; i < run->x_words; i++) {
        const bool is_start = i % BYTE_WORDS < BYTE_LANES;
        x[i].bits = is_start ? (cl_uint)(i * 1000) : (cl_uint)i * 2654435761u;
    }
    for (int lane = 0; lane < BYTE_LANES; lane++)
        x[BYTE_LANES + lane].bits = x[BYTE_WORDS + BYTE_LANES + lane].bits = 0xffffffffu;
    x[BYTE_WORDS - 1].bits = 0x80808080u;
    x[2 * BYTE_WORDS - 1].bits = 0x7f7f7f7fu;
}

static bool dots_are_right(const clf_probe_run *run, const clf_probe_word *x, const clf_probe_word *y)
{
    for (int i = 0; i < run->y_words; i++) {
        const clf_probe_word *of = x + i / BYTE_LANES * BYTE_WORDS;
        const cl_uint a = of[BYTE_LANES + i % BYTE_LANES].bits, b = of[BYTE_WORDS - 1].bits;
        int sum = of[i % BYTE_LANES].integer;
        for (int byte = 0; byte < 32; byte += 8) {
            const int with_sign = (int)(b >> byte & 255u);
            sum += (int)(a >> byte & 255u) * (with_sign < 128 ? with_sign : with_sign - 256);
        }
        if (y[i].integer != sum)
            return false;
    }
    return true;
}

/* Powers of two with exponents up to 0, as in softmax. x, y: float4 for each item. */
enum { EXP2_GROUPS = 6, EXP2_GROUP = 64 };
_Static_assert(EXP2_GROUPS *EXP2_GROUP * 4 <= CLFI_PROBE_WORDS, "a float4 for each item");

/* Only GPUs claim it, where one instruction replaces a polynomial. On CPUs native_exp2 is a polynomial, too. */
static bool claims_native_exp2(const clf_device_caps *caps)
{
    return !caps->is_cpu;
}

static clf_probe_run run_native_exp2(const clf_device_caps *caps, int group)
{
    (void)group;
    clf_kernel_spec spec = clfi_kernel_spec("probe_native_exp2.cl", "probe_native_exp2");
    (void)caps;
    clfi_spec_int(&spec, "WG", EXP2_GROUP);
    return (clf_probe_run){spec, EXP2_GROUPS, EXP2_GROUP, EXP2_GROUPS * EXP2_GROUP * 4, EXP2_GROUPS * EXP2_GROUP * 4};
}

/* Three of four exponents are from -4 to 0, the others from -125 to 0. Special values replace exponents 0, 5, 10 and so on. */
static void fill_native_exp2(const clf_probe_run *run, clf_probe_word *x)
{
    static const float own[] = {0, -0.0f, -INFINITY, NAN, -FLT_MAX, -1000, -1, -126};
    for (int i = 0; i < run->x_words; i++)
        x[i].real = (float)-i * (i % 4 == 0 ? 125.0f : 4.0f) / (float)run->x_words;
    for (int i = 0; i < (int)(sizeof own / sizeof *own); i++)
        x[i * 5].real = own[i];
}

/* Allows four units in the last place, about the error of softmax_exp.cl. A power of at most 2^-126 may come out as 0. */
static bool powers_are_right(const clf_probe_run *run, const clf_probe_word *x, const clf_probe_word *y)
{
    for (int i = 0; i < run->y_words; i++) {
        const double power = exp2((double)x[i].real), error = fabs((double)y[i].real - power);
        const bool is_right =
            isnan(power) ? isnan(y[i].real) : error <= 4 * (double)FLT_EPSILON * power || (power <= 0x1p-126 && error <= power);
        if (!is_right)
            return false;
    }
    return true;
}

/* Multiply-adds in half precision. x: three float4 for each item; y: one float4. */
enum { HALF_GROUPS = 2, HALF_GROUP = 64, HALF_OPERANDS = 3 };
_Static_assert(HALF_GROUPS *HALF_GROUP * 4 * HALF_OPERANDS <= CLFI_PROBE_WORDS, "three float4 for each item");

static bool claims_half(const clf_device_caps *caps)
{
    return caps->has_fp16;
}

static clf_probe_run run_half(const clf_device_caps *caps, int group)
{
    (void)group;
    clf_kernel_spec spec = clfi_kernel_spec("probe_half.cl", "probe_half");
    (void)caps;
    clfi_spec_int(&spec, "WG", HALF_GROUP);
    clfi_spec_int(&spec, "IS_HALF", 1);
    return (clf_probe_run){spec, HALF_GROUPS, HALF_GROUP, HALF_GROUPS * HALF_GROUP * 4 * HALF_OPERANDS, HALF_GROUPS * HALF_GROUP * 4};
}

/* Index in x of an operand of y[i]. */
static int half_operand(int i, int operand)
{
    return (i / 4 * HALF_OPERANDS + operand) * 4 + i % 4;
}

/* The first operands overflow, underflow or are NaN in half precision. The others need rounding. */
static void fill_half(const clf_probe_run *run, clf_probe_word *x)
{
    static const float own[][HALF_OPERANDS] = {
        {1e5f, 1, 0},
        {1, 1, -1e5f},
        {300, 300, 0},
        {-300, 300, 1},
        {60000, 1, 60000},
        {NAN, 1, 1},
        {INFINITY, 0, 0},
        {3 * 0x1p-20f, 1, 0},
        {1, 1, -5 * 0x1p-24f},
        {0x1.8p-10f, 0x1p-9f, 0},
        {0x1p-12f, 0x1p-12f, 0x1p-24f},
    };
    for (int i = 0; i < run->y_words; i++)
        for (int operand = 0; operand < HALF_OPERANDS; operand++)
            x[half_operand(i, operand)].real =
                i < (int)(sizeof own / sizeof *own) ? own[i][operand] : (float)((i * 37 + operand * 101) % 211 - 105) * 0.0371f;
}

/* Rounds the operands as the kernel does, and allows the rounding of the result to nearest. */
static bool halves_are_right(const clf_probe_run *run, const clf_probe_word *x, const clf_probe_word *y)
{
    for (int i = 0; i < run->y_words; i++) {
        double of[HALF_OPERANDS];
        for (int operand = 0; operand < HALF_OPERANDS; operand++)
            of[operand] = (double)clfi_f32_from_f16(clfi_f16_from_f32(x[half_operand(i, operand)].real));
        const double sum = of[0] * of[1] + of[2], found = (double)y[i].real;
        const bool is_right = isnan(sum)           ? isnan(found)
                              : fabs(sum) >= 65520 ? isinf(found) && (found > 0) == (sum > 0)
                                                   : fabs(found - sum) <= 0x1.01p-11 * fabs(sum) + 0x1.01p-25;
        if (!is_right)
            return false;
    }
    return true;
}

/* Products of blocks on a matrix unit. x: for each work-group 16 rows of A and 16 columns of B, MATRIX_K numbers each. y: 16 x 16
 * results. */
enum { MATRIX_GROUPS = 2, MATRIX_SIDE = 16, MATRIX_K = 32, MATRIX_X = 2 * MATRIX_SIDE * MATRIX_K, MATRIX_Y = MATRIX_SIDE * MATRIX_SIDE };
_Static_assert(MATRIX_GROUPS *MATRIX_X <= CLFI_PROBE_WORDS, "both operands of each group");

static bool claims_matrix(const clf_device_caps *caps)
{
    return caps->matrix_unit != CLFI_MATRIX_NONE;
}

static clf_status permit_matrix(const clf_device_caps *caps)
{
    return caps->matrix_unit == CLFI_MATRIX_X86_AMX && !caps->emulates_matrix_unit ? clfi_processor_permit_tiles() : CLF_OK;
}

static clf_probe_run run_matrix(const clf_device_caps *caps, int group)
{
    (void)group;
    const bool is_cpu = clfi_matrix_unit_is_cpu(caps->matrix_unit);
    clf_kernel_spec spec = is_cpu ? clfi_kernel_spec("probe_bf16.cl", "probe_bf16") : clfi_kernel_spec("probe_matrix.cl", "probe_matrix");
    clfi_spec_matrix_unit(&spec, caps->matrix_unit, caps->emulates_matrix_unit);
    return (clf_probe_run){spec, MATRIX_GROUPS, clfi_matrix_unit_info(caps->matrix_unit)->lanes, MATRIX_GROUPS * MATRIX_X,
                           MATRIX_GROUPS * MATRIX_Y};
}

/* The first group gets small integers, whose sums are exact in any order, so an element in a wrong place shows. In the second group, the
 * first half of k makes every sum 1, and the second half adds 1.5 x 2^-24 on the diagonal. */
static void fill_matrix(const clf_probe_run *run, clf_probe_word *x)
{
    for (int i = 0; i < run->x_words; i++)
        x[i].real = i < MATRIX_X ? (float)((i * 37 + i / MATRIX_K * 11) % 31 - 15) : 0.0f;
    for (int line = 0; line < 2 * MATRIX_SIDE; line++) {
        clf_probe_word *own = x + MATRIX_X + line * MATRIX_K;
        own[0].real = 1.0f;
        own[MATRIX_K / 2 + line % MATRIX_SIDE].real = line < MATRIX_SIDE ? 1.5f * 0x1p-12f : 0x1p-12f;
    }
}

/* The first group's results must be exact. Those of the second group may be rounded to either side. */
static bool products_are_right(const clf_probe_run *run, const clf_probe_word *x, const clf_probe_word *y)
{
    for (int i = 0; i < run->y_words; i++) {
        const clf_probe_word *a = x + i / MATRIX_Y * MATRIX_X + i % MATRIX_Y / MATRIX_SIDE * MATRIX_K;
        const clf_probe_word *b = x + i / MATRIX_Y * MATRIX_X + (MATRIX_SIDE + i % MATRIX_SIDE) * MATRIX_K;
        double sum = 0;
        for (int k = 0; k < MATRIX_K; k++)
            sum += (double)a[k].real * (double)b[k].real;
        if (!(fabs((double)y[i].real - sum) <= (i < MATRIX_Y ? 0 : 0x1p-23)))
            return false;
    }
    return true;
}

const clf_probe_case clfi_probe_cases[CLFI_PROBE_COUNT] = {
#define ROW_SUMS(n) {"sub-group sums of rows, " #n " items", claims_subgroups, run_row_sums, fill_sums, sums_are_right, n}
#define GROUP_SUMS(n) {"sub-group sums of groups, " #n " items", claims_subgroups, run_group_sums, fill_sums, sums_are_right, n}
    [CLFI_PROBE_ROW_SUMS] = ROW_SUMS(64),
    [CLFI_PROBE_ROW_SUMS_128] = ROW_SUMS(128),
    [CLFI_PROBE_ROW_SUMS_256] = ROW_SUMS(256),
    [CLFI_PROBE_GROUP_SUMS] = GROUP_SUMS(16),
    [CLFI_PROBE_GROUP_SUMS_32] = GROUP_SUMS(32),
    [CLFI_PROBE_GROUP_SUMS_64] = GROUP_SUMS(64),
    [CLFI_PROBE_GROUP_SUMS_128] = GROUP_SUMS(128),
    [CLFI_PROBE_GROUP_SUMS_256] = GROUP_SUMS(256),
#undef ROW_SUMS
#undef GROUP_SUMS
    [CLFI_PROBE_BYTE_DOT] = {"dot products of bytes", claims_byte_dot, run_byte_dot, fill_byte_dot, dots_are_right},
    [CLFI_PROBE_NATIVE_EXP2] = {"native_exp2", claims_native_exp2, run_native_exp2, fill_native_exp2, powers_are_right},
    [CLFI_PROBE_MATRIX] = {"matrix unit", claims_matrix, run_matrix, fill_matrix, products_are_right, .is_apart = true,
                           .permit = permit_matrix},
    [CLFI_PROBE_HALF] = {"half precision", claims_half, run_half, fill_half, halves_are_right},
};
