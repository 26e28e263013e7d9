/* SPDX-License-Identifier: MIT */
/* Several threads launch the same kernel on queues of their own, each round with more work-groups than before, while another thread asks
 * for the binary of a program. PoCL before 6.0 ends the process where these meet (runtime/queue_order.h). CLF_TEST_ROUNDS: how often; 1000.
 * */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/context.h"
#include "runtime/launch.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

enum { THREADS = 8, FINISH_EVERY = 4 };

static const char text[] = "__kernel void count(__global int *x, int id)\n{\n    if (get_global_id(0) == get_global_size(0) - 1)\n"
                           "        x[id] = get_global_size(0);\n}\n";
static const clf_kernel_file files[] = {{"any/count.cl", text, sizeof text - 1}};
static const clf_kernel_set own = {files, 1};

typedef struct job {
    clf_context *context;
    int id, rounds, variants; /* variants: different programs, the last of which others have not launched */
    bool is_right;
} job;

static clf_status launch(const job *j, clf_buffer *x, int variant, int width)
{
    clf_kernel_spec spec = clfi_kernel_spec("count.cl", "count");
    spec.own = &own;
    clfi_spec_int(&spec, "VARIANT", variant);
    clf_launch one = clfi_launch(j->context, &spec);
    clfi_arg_buffer(&one, x);
    clfi_arg_int(&one, 0);
    return clfi_launch_1d(&one, (size_t)width, 1);
}

static void *run(void *argument)
{
    job *j = argument;
    clf_buffer *x = NULL;
    clf_status st = clfi_buffer_create(j->context, sizeof(cl_int), &x);
    for (int i = 0; st == CLF_OK && i < j->rounds; i++) {
        const int width = 1 + i * THREADS + j->id;
        cl_int got = 0;
        st = launch(j, x, i % j->variants, width);
        if (st == CLF_OK && i % FINISH_EVERY == 0)
            st = clfi_buffer_read(x, 0, &got, sizeof got);
        if (st == CLF_OK && i % FINISH_EVERY == 0 && got != width) {
            fprintf(stderr, "thread %d, round %d: %d work-groups, expected %d\n", j->id, i, got, width);
            break;
        }
        if (st == CLF_OK && i % (FINISH_EVERY * 8) == 0) /* saves programs that are new */
            st = clf_context_finish(j->context);
        j->is_right = i == j->rounds - 1;
    }
    if (st != CLF_OK)
        fprintf(stderr, "thread %d: %s\n", j->id, clf_last_error());
    clfi_buffer_release(x);
    return NULL;
}

static void run_threads(int rounds, int variants)
{
    pthread_t threads[THREADS];
    job jobs[THREADS];
    clf_context *base;
    char folder[TEMP_PATH_BYTES];
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    temp_directory_make(folder);
    params.cache_dir = folder;
    CHECK_OK(clf_context_create(&params, &base));
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){.id = i, .rounds = rounds, .variants = variants};
        CHECK_OK(clf_context_create_shared(base, &jobs[i].context));
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, &jobs[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(jobs[i].is_right, "thread %d ended early", i);
        clf_context_destroy(jobs[i].context);
    }
    clf_context_destroy(base);
    temp_directory_remove(folder);
}

static int rounds(void)
{
    const char *given = getenv("CLF_TEST_ROUNDS");
    return given ? atoi(given) : 1000;
}

static void test_widening_launches(void **state)
{
    (void)state;
    run_threads(rounds(), 1);
}

/* Programs that are compiled here, whose binaries are asked for while other threads launch them. */
static void test_binaries_of_running_programs(void **state)
{
    (void)state;
    const char *compiler = getenv("CLF_COMPILER");
    char *kept = compiler ? strdup(compiler) : NULL;
    setenv("CLF_COMPILER", "", 1);
    run_threads(rounds() / 4, 3);
    if (kept)
        setenv("CLF_COMPILER", kept, 1);
    else
        unsetenv("CLF_COMPILER");
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widening_launches),
        cmocka_unit_test(test_binaries_of_running_programs),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
