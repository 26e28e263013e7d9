/* SPDX-License-Identifier: MIT */
/* Constructs that a driver's compiler dies of, each as a few lines in two forms. The form that the library's kernels use has to build and
 * compute right everywhere; they avoid the other one. The fate of the latter is printed, not judged, but wrong numbers fail. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/buffer.h"
#include "runtime/context.h"
#include "runtime/launch.h"
#include "support/check.h"
#include "support/device.h"

enum { LANES = 16, COUNT_X = 3, USED = 0, AVOIDED = 1, COULD_NOT = 3 };

#define FILE_OF(path, text) {path, text, sizeof text - 1}

/* y = `rows` and the sum of x's vectors are above 0 ? 1 / sum : 0. Avoided: one arm of a branch alone uses the sum, a loop's result.
 * PoCL 6.0 (LLVM 18) ends the process: "Instruction Combining did not reach a fixpoint". */
static const clf_kernel_file files[] = {
    FILE_OF("cpu/loop_result.cl",
            "#define RECIPROCAL(sum) (sum == (float16)(0.0f) ? (float16)(0.0f) : (float16)(1.0f) / sum)\n"
            "__kernel void loop_result(__global const float16 *x, int count, int rows, __global float16 *y)\n"
            "{\n"
            "    float16 sum = (float16)(0.0f);\n"
            "    for (int i = 0; i < count; i++)\n"
            "        sum += x[i];\n"
            "#if FORM == 1\n"
            "    const float16 factor = rows == 0 ? (float16)(0.0f) : RECIPROCAL(sum);\n"
            "#else\n"
            "    const float16 reciprocal = RECIPROCAL(sum), factor = rows == 0 ? (float16)(0.0f) : reciprocal;\n"
            "#endif\n"
            "    y[0] = factor;\n"
            "}\n"),
};
static const clf_kernel_set own = {files, COUNT(files)};

static clf_status run_form(clf_context *context, int form, clf_buffer *x, clf_buffer *y, float rows, float found[LANES])
{
    clf_kernel_spec spec = clfi_kernel_spec("loop_result.cl", "loop_result");
    spec.own = &own;
    clfi_spec_int(&spec, "FORM", form);
    clf_launch launch = clfi_launch(context, &spec); /* four items: PoCL 6 simplifies work-groups of one before */
    clfi_arg_buffer(&launch, x);
    clfi_arg_int(&launch, COUNT_X);
    clfi_arg_int(&launch, (int64_t)rows);
    clfi_arg_buffer(&launch, y);
    CLF_TRY(clfi_launch_1d(&launch, 1, 4));
    return clfi_buffer_read(y, 0, found, LANES * sizeof *found);
}

/* In a process of its own, which may die. Exit status 0: right numbers. */
static int child(int form)
{
    void *state;
    float x[COUNT_X * LANES], found[LANES];
    clf_buffer *from = NULL, *to = NULL;
    if (device_setup(&state))
        return COULD_NOT;
    clf_context *context = state;
    for (int i = 0; i < COUNT_X * LANES; i++)
        x[i] = i % LANES == 5 ? 0.0f : (float)(1 << (i % LANES % 4)); /* sums of 3, 6, 12 and 24; of lane 5: 0 */
    if (clfi_buffer_create(context, sizeof x, &from) || clfi_buffer_create(context, sizeof found, &to) ||
        clfi_buffer_write(from, 0, x, sizeof x))
        return COULD_NOT;
    for (int rows = 0; rows < 2; rows++) {
        if (run_form(context, form, from, to, (float)rows, found)) {
            fprintf(stderr, "form %d: %s\n", form, clf_last_error());
            return COULD_NOT;
        }
        for (int lane = 0; lane < LANES; lane++) {
            const float want = rows == 0 || lane == 5 ? 0.0f : 1.0f / (float)(3 << lane % 4);
            if (fabsf(found[lane] - want) > 1e-6f) {
                fprintf(stderr, "form %d, rows %d, lane %d: %g, not %g\n", form, rows, lane, (double)found[lane], (double)want);
                return EXIT_FAILURE;
            }
        }
    }
    clfi_buffer_release(from);
    clfi_buffer_release(to);
    device_teardown(&state);
    return EXIT_SUCCESS;
}

static int status_of(int form)
{
    int status = 0;
    fflush(NULL);
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0)
        _Exit(child(form));
    assert_int_equal(waitpid(process, &status, 0), process);
    return status;
}

static void test_used_form(void **state)
{
    (void)state;
    const int status = status_of(USED);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        exit(77);
    CHECK(WIFEXITED(status), "the form that kernels use: the compiler ends the process with signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_SUCCESS);
}

static void test_avoided_form(void **state)
{
    (void)state;
    const int status = status_of(AVOIDED);
    if (WIFEXITED(status))
        assert_int_not_equal(WEXITSTATUS(status), EXIT_FAILURE);
    printf("a loop's result that one arm of a branch uses: %s\n", WIFEXITED(status) ? "compiled" : "ends this driver's compiler");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_used_form), cmocka_unit_test(test_avoided_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
