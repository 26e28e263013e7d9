/* SPDX-License-Identifier: MIT */
/* Threads that each make their first context at once, and compile in it: nothing was enumerated, and nothing is in a cache. */
#include "clformer/context.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clformer/softmax.h"
#include "clformer/tensor.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

enum { THREADS = 4, KEYS = 16, TIME_LIMIT = 300 }; /* seconds, for a machine that does much else */

static const char pocl[] = "Portable Computing Language", pocl_alone[] = "/etc/OpenCL/vendors/pocl.icd";
static pthread_barrier_t barrier;
static bool is_pocl;

/* NULL, or what failed. */
static void *first_context(void *argument)
{
    (void)argument;
    clf_context *context = NULL;
    clf_tensor *x = NULL;
    float values[KEYS] = {0};
    pthread_barrier_wait(&barrier);
    if (clf_context_create(NULL, &context) != CLF_OK ||
        clf_tensor_create_from(context, CLF_F32, 1, (int64_t[]){KEYS}, values, &x) != CLF_OK ||
        clf_softmax(context, x, NULL, x) != CLF_OK || clf_tensor_read_f32(x, values, KEYS) != CLF_OK)
        return strdup(clf_last_error());
    const bool is_right = within(values[0], 1.0 / KEYS, 1e-6) && within(values[KEYS - 1], 1.0 / KEYS, 1e-6);
    clf_tensor_destroy(x);
    clf_context_destroy(context);
    return is_right ? NULL : strdup("wrong numbers");
}

/* A process of its own, because only its first context is a first one. */
static void child(void)
{
    pthread_t threads[THREADS];
    int failures = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, first_context, NULL) != 0)
            _exit(2);
    for (int i = 0; i < THREADS; i++) {
        void *failure = NULL;
        pthread_join(threads[i], &failure);
        if (failure)
            fprintf(stderr, "thread %d: %s\n", i, (char *)failure);
        failures += failure != NULL;
    }
    _exit(failures != 0);
}

static void test_first_contexts(void **state)
{
    (void)state;
    char folder[TEMP_PATH_BYTES];
    for (int run = 0; run < 2; run++) {
        int status;
        temp_directory_make(folder);
        const pid_t process = fork();
        if (process == 0) {
            setenv("POCL_CACHE_DIR", folder, 1);
            setenv("CLF_CACHE_DIR", "", 1);
            if (is_pocl && access(pocl_alone, R_OK) == 0) { /* other drivers, loaded before it, would keep the threads apart */
                setenv("OCL_ICD_VENDORS", pocl_alone, 1);
                unsetenv("CLF_DEVICE"); /* an index among all of them */
            }
            alarm(TIME_LIMIT);
            child();
        }
        assert_int_equal(waitpid(process, &status, 0), process);
        CHECK(!WIFSIGNALED(status), "run %d: ended by signal %d, %s%s", run, WTERMSIG(status), strsignal(WTERMSIG(status)),
              WTERMSIG(status) == SIGALRM ? ": not done in time" : "");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "run %d: exit status %d", run, WEXITSTATUS(status));
        temp_directory_remove(folder);
    }
}

/* Whether there is a device is asked in a process of its own too. */
static int setup(void **state)
{
    int status;
    const pid_t process = fork();
    if (process == 0)
        exit(device_setup(state) != 0 ? 1 : strcmp(clf_context_device(*state)->platform_name, pocl) == 0 ? 2 : 0);
    waitpid(process, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        exit(77);
    is_pocl = WIFEXITED(status) && WEXITSTATUS(status) == 2;
    return WIFEXITED(status) && WEXITSTATUS(status) != 1 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_first_contexts)};
    return cmocka_run_group_tests_name("runtime.threads", tests, setup, NULL);
}
