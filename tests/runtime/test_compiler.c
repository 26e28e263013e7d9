/* SPDX-License-Identifier: MIT */
/* Programs that compile kernels for the library and do not do as they should: missing, dying before and after they greet, hanging, talking
 * nonsense, of another version, claiming what is not true. Kernels are then compiled here, or refused with the last words of the other
 * side, which are remembered until the driver or the kernel changes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/compiler_pool.h"
#include "runtime/context.h"
#include "runtime/launch.h"
#include "runtime/probe.h"
#include "runtime/shared.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

static const char text[] = "__kernel void thrice(__global int *x)\n{\n    x[0] = 3 * NUMBER;\n}\n";
static const char wrong_text[] = "__kernel void wrong(__global int *x)\n{\n    x[0] = no_such_thing;\n}\n";
static const clf_kernel_file files[] = {{"any/thrice.cl", text, sizeof text - 1}, {"any/wrong.cl", wrong_text, sizeof wrong_text - 1}};
static const clf_kernel_set own = {files, COUNT(files)};

static char folder[TEMP_PATH_BYTES], cache[TEMP_PATH_BYTES], script[TEMP_PATH_BYTES], started[TEMP_PATH_BYTES];
static char *real_compiler;

/* A greeting: the mark, the word 0 and a length, as bytes, then the version. */
#define GREET "printf 'CFLC\\0\\0\\0\\0\\%03o\\0\\0\\0\\0\\0\\0\\000%s' >&3\n"

/* Writes a shell script that notes each start, does `body`, and makes it the compiler. */
static void use_script(const char *greeting, const char *body)
{
    static int scripts; /* each has a name of its own: a process that is idle goes to the next context that names the same program */
    char content[2048], name[32];
    const char *version = greeting ? greeting : "";
    int length = snprintf(content, sizeof content, "#!/bin/sh\necho start >> '%s'\n", started);
    if (greeting)
        length += snprintf(content + length, sizeof content - (size_t)length, GREET, (unsigned)strlen(version), version);
    snprintf(content + length, sizeof content - (size_t)length, "%s\n", body);
    snprintf(name, sizeof name, "compiler-%d", scripts++);
    temp_file(folder, name, content, strlen(content), script);
    assert_int_equal(chmod(script, 0700), 0);
    remove(started);
    setenv("CLF_COMPILER", script, 1);
}

static int count_starts(void)
{
    char line[64];
    int count = 0;
    FILE *stream = fopen(started, "r");
    while (stream && fgets(line, sizeof line, stream))
        count++;
    if (stream)
        fclose(stream);
    return count;
}

static clf_status launch(clf_context *context, const char *file, int number, cl_int *out)
{
    char kernel[16];
    clf_buffer *x;
    snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(file, "."), file);
    clf_kernel_spec spec = clfi_kernel_spec(file, strcmp(kernel, "wrong") == 0 ? "wrong" : "thrice");
    spec.own = &own;
    clfi_spec_int(&spec, "NUMBER", number);
    CLF_TRY(clfi_buffer_create(context, sizeof *out, &x));
    clf_launch one = clfi_launch(context, &spec);
    clfi_arg_buffer(&one, x);
    clf_status st = clfi_launch_1d(&one, 1, 1);
    if (st == CLF_OK)
        st = clfi_buffer_read(x, 0, out, sizeof *out);
    clfi_buffer_release(x);
    return st;
}

static clf_context *open_context(void)
{
    clf_context *context;
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    params.cache_dir = cache;
    CHECK_OK(clf_context_create(&params, &context));
    return context;
}

/* The kernel is built, by whom ever. */
static void check_builds(int number)
{
    cl_int got = 0;
    clf_context *context = open_context();
    CHECK_OK(launch(context, "thrice.cl", number, &got));
    CHECK(got == 3 * number, "number %d: %d", number, got);
    CHECK(context->stats.programs_built == 1, "number %d: %d programs built", number, (int)context->stats.programs_built);
    clf_context_destroy(context);
}

/* It is refused, and the message has these words; context->asker is blamed. */
static void check_refused(int number, const char *words)
{
    cl_int got;
    clf_context *context = open_context();
    context->asker = 4;
    CHECK_FAILS(launch(context, "thrice.cl", number, &got), CLF_BUILD, words);
    CHECK(context->unbuilt == 4, "number %d: engines %llx are blamed", number, (unsigned long long)context->unbuilt);
    clf_context_destroy(context);
}

static void test_useless_compilers_are_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *version, *body;
    } cases[] = {
        {NULL, "exit 1"},
        {NULL, "kill -SEGV $$"},
        {NULL, "printf 'nothing of the sort, however long it is' >&3; sleep 5"},
        {"0.0.0-other", "sleep 5"},
        {CLF_VERSION_STRING, "printf 'CFLC\\2\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0' >&3; sleep 5"},    /* done, but there is no binary */
        {CLF_VERSION_STRING, "printf 'CFLC\\4\\0\\0\\0\\3\\0\\0\\0\\0\\0\\0\\0bad' >&3; sleep 5"}, /* useless */
        {CLF_VERSION_STRING, "printf 'CFLC\\3\\0\\0\\0\\3\\0\\0\\0\\0\\0\\0\\0bad' >&3; sleep 5"}, /* rejected: the driver here decides */
        {CLF_VERSION_STRING, "printf 'CFLC\\2\\0\\0\\0\\377\\377\\377\\0\\0\\0\\0\\0' >&3; sleep 5"}, /* a reply that is too long */
        {CLF_VERSION_STRING, "printf 'CFLC\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0' >&3; sleep 5"},       /* greets twice */
    };
    setenv("CLF_COMPILE_SECONDS", "20", 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        use_script(cases[i].version, cases[i].body);
        check_builds(100 + (int)i);
        CHECK(count_starts() == 1, "case %zu: started %d times", i, count_starts());
    }
    setenv("CLF_COMPILER", "/no/such/program", 1);
    check_builds(150);
    setenv("CLF_COMPILER", "", 1);
    check_builds(151);
}

static void test_deaths_are_remembered(void **state)
{
    (void)state;
    char words[96];
    setenv("CLF_COMPILE_SECONDS", "20", 1);
    static const struct {
        const char *body, *words;
    } cases[] = {
        {"echo first >&2; echo 'LLVM ERROR: last words' >&2; kill -ABRT $$", "signal 6"},
        {"kill -SEGV $$", "signal 11"},
        {"exit 0", "status 0"},
        {"exit 7", "status 7"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const int number = 200 + (int)i;
        use_script(CLF_VERSION_STRING, cases[i].body);
        check_refused(number, i == 0 ? "LLVM ERROR: last words" : cases[i].words);
        CHECK(count_starts() == 2, "case %zu: started %d times", i, count_starts());
        check_refused(number, cases[i].words);
        CHECK(count_starts() == 2, "case %zu: started again, %d times in all", i, count_starts());
        setenv("CLF_COMPILER", "", 1);
        check_refused(number, cases[i].words);
    }
    snprintf(words, sizeof words, "took longer than 0.3 s");
    setenv("CLF_COMPILE_SECONDS", "0.3", 1);
    use_script(CLF_VERSION_STRING, "sleep 30");
    check_refused(210, words);
    CHECK(count_starts() == 1, "started %d times", count_starts());
    check_refused(210, words);
    CHECK(count_starts() == 1, "started %d times", count_starts());
    setenv("CLF_COMPILE_SECONDS", "20", 1);
    use_script(CLF_VERSION_STRING, "kill -KILL $$"); /* somebody else's doing: refused now, and tried again the next time */
    check_refused(211, "signal 9");
    setenv("CLF_COMPILER", real_compiler, 1);
    check_builds(211);
}

/* The one file of the cache whose name begins so. */
static void find_mark(char path[TEMP_PATH_BYTES])
{
    char command[2 * TEMP_PATH_BYTES];
    snprintf(command, sizeof command, "ls -t '%s'/programs/unusable-* | head -1", cache);
    FILE *stream = popen(command, "r");
    assert_non_null(stream);
    assert_non_null(fgets(path, TEMP_PATH_BYTES, stream));
    path[strcspn(path, "\n")] = '\0';
    pclose(stream);
}

static void test_marks(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    cl_int got = 0;
    use_script(CLF_VERSION_STRING, "kill -ABRT $$");
    check_refused(300, "signal 6");
    find_mark(path);
    setenv("CLF_COMPILER", real_compiler, 1);
    check_refused(300, path); /* the message names the file to delete */

    clf_context *context = open_context(); /* another version of the driver: the mark does not count */
    char *version = (char *)context->device.info.driver_version;
    version[strlen(version) - 1] ^= 1;
    CHECK_OK(launch(context, "thrice.cl", 300, &got));
    CHECK(got == 900, "another driver: %d", got);
    clf_context_destroy(context);

    FILE *stream = fopen(path, "r+"); /* damaged: it does not count */
    assert_non_null(stream);
    fseek(stream, -1, SEEK_END);
    fputc('?', stream);
    fclose(stream);
    check_builds(300);
}

static void test_errors_of_the_source_are_the_drivers(void **state)
{
    (void)state;
    cl_int got;
    setenv("CLF_COMPILER", real_compiler, 1);
    clf_context *context = open_context();
    CHECK_FAILS(launch(context, "wrong.cl", 1, &got), CLF_BUILD, "no_such_thing");
    CHECK(context->unbuilt == 0, "engines %llx are blamed", (unsigned long long)context->unbuilt);
    CHECK_OK(launch(context, "thrice.cl", 400, &got));
    CHECK(got == 1200, "%d", got);
    clf_context_destroy(context);
}

/* Kernels that are built already start no process. */
static void test_warm_starts_start_nothing(void **state)
{
    (void)state;
    cl_int got = 0;
    setenv("CLF_COMPILER", real_compiler, 1);
    check_builds(500);
    use_script(CLF_VERSION_STRING, "sleep 5");
    clf_context *context = open_context();
    CHECK_OK(launch(context, "thrice.cl", 500, &got));
    CHECK(got == 1500 && context->stats.programs_from_cache == 1, "%d, %d programs from the cache", got,
          (int)context->stats.programs_from_cache);
    CHECK(count_starts() == 0, "started %d times", count_starts());
    clf_context_destroy(context);
}

/* A caller may change its working directory after it opened a context by relative paths. */
static void test_relative_paths(void **state)
{
    (void)state;
    cl_int got = 0;
    char before[TEMP_PATH_BYTES], full[TEMP_PATH_BYTES];
    snprintf(full, sizeof full, "%s", cache);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(symlink(real_compiler, "compiler-here"), 0);
    snprintf(cache, sizeof cache, "relative");
    setenv("CLF_COMPILER", "./compiler-here", 1);
    clf_context *context = open_context();
    assert_int_equal(chdir("/"), 0);
    CHECK_OK(launch(context, "thrice.cl", 701, &got));
    CHECK(got == 3 * 701 && !context->shared->compilers->is_off, "%d; the compiling process was of no use", got);
    clf_context_destroy(context);
    CHECK(access("/relative", F_OK) != 0, "a cache was made in the new working directory");
    CHECK(getenv("POCL_CACHE_DIR")[0] == '/', "POCL_CACHE_DIR is still %s", getenv("POCL_CACHE_DIR"));
    assert_int_equal(chdir(before), 0);
    snprintf(cache, sizeof cache, "%s", full);
}

/* Processes that waited too long have ended. No program is refused for that, however many of them have. */
static void test_ended_processes_are_replaced(void **state)
{
    (void)state;
    enum { BATCH = 4 };
    clf_kernel_spec specs[BATCH];
    const clf_kernel_spec *list[BATCH];
    cl_int got;
    setenv("CLF_COMPILER", real_compiler, 1);
    check_builds(600); /* whose process is handed on */
    clf_context *context = open_context();
    for (int i = 0; i < BATCH; i++) {
        specs[i] = clfi_kernel_spec("thrice.cl", "thrice");
        specs[i].own = &own;
        clfi_spec_int(&specs[i], "NUMBER", 601 + i);
        list[i] = &specs[i];
    }
    CHECK_OK(clfi_programs_build(context, list, BATCH));
    clf_context *other = open_context(); /* with a pool of its own, which it hands on */
    CHECK_OK(launch(other, "thrice.cl", 610, &got));
    clf_compiler *const all[] = {&context->shared->compilers->list[0], &context->shared->compilers->list[1],
                                 &other->shared->compilers->list[0]};
    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i]->child.process)
            kill(all[i]->child.process, SIGKILL);
    clf_context_destroy(other);
    CHECK_OK(launch(context, "thrice.cl", 611, &got));
    CHECK(got == 3 * 611, "%d", got);
    CHECK(context->stats.programs_built == BATCH + 1, "%d programs built", (int)context->stats.programs_built);
    clf_context_destroy(context);
}

/* The probe of a matrix unit, whose program is built, in processes that do not come to its end: a no with their last words, kept, and run
 * nowhere else. */
static void test_probes_run_apart(void **state)
{
    static const struct {
        const char *unit, *body, *words;
        int starts;
    } cases[] = {{"NVIDIA_BF16", "kill -SEGV $$", "no: the process that ran it", 2},
                 {"AMD_GFX12", "sleep 30", "no: the process that ran it took longer than 1 s", 1},
                 {"NVIDIA_F16", NULL, "yes", 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        setenv("CLF_MATRIX_UNIT", cases[i].unit, 1);
        setenv("CLF_COMPILER", real_compiler, 1);
        setenv("CLF_COMPILE_SECONDS", "60", 1);
        clf_context *context = open_context();
        clf_kernel_spec spec = clfi_kernel_spec("probe_matrix.cl", "probe_matrix");
        const clf_kernel_spec *const list[] = {&spec};
        clfi_spec_matrix_unit(&spec, context->device.caps.matrix_unit, true);
        CHECK_OK(clfi_programs_build(context, list, 1));
        clf_context_destroy(context);
        setenv("CLF_COMPILE_SECONDS", cases[i].starts == 1 ? "1" : "60", 1);
        if (cases[i].body)
            use_script(CLF_VERSION_STRING, cases[i].body);
        for (int again = 0; again < 2; again++) {
            context = open_context();
            const char *answer = clfi_probe_text(context, CLFI_PROBE_MATRIX);
            CHECK(strncmp(answer, cases[i].words, strlen(cases[i].words)) == 0, "%s: %s", cases[i].unit, answer);
            CHECK(context->stats.kernels_launched == 0, "%s: the probe ran in this process", cases[i].unit);
            CHECK(!cases[i].body || count_starts() == cases[i].starts, "%s: started %d times", cases[i].unit, count_starts());
            clf_context_destroy(context);
        }
    }
    unsetenv("CLF_MATRIX_UNIT");
}

static int setup(void **state)
{
    char before[TEMP_PATH_BYTES], pocl[TEMP_PATH_BYTES];
    const char *home = getenv("HOME");
    temp_directory_make(folder);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir("/"), 0);
    snprintf(pocl, sizeof pocl, "%.400s/.cache/pocl/kcache", home && home[0] == '/' ? home + 1 : folder + 1);
    setenv("POCL_CACHE_DIR", pocl, 0); /* PoCL's own default, but relative */
    const int st = device_setup(state);
    assert_int_equal(chdir(before), 0);
    const char *compiler = getenv("CLF_COMPILER");
    unsetenv("CLF_KERNEL_DUMP"); /* which holds kernels that every compiler takes */
    if (st != 0 || !compiler || !compiler[0])
        return st != 0 ? st : (fprintf(stderr, "CLF_COMPILER must name clformer-compile\n"), -1);
    real_compiler = strdup(compiler);
    snprintf(cache, sizeof cache, "%.400s/cache", folder);
    snprintf(started, sizeof started, "%.400s/started", folder);
    return real_compiler ? 0 : -1;
}

static int teardown(void **state)
{
    temp_directory_remove(folder);
    free(real_compiler);
    return device_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_useless_compilers_are_replaced),
        cmocka_unit_test(test_deaths_are_remembered),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_errors_of_the_source_are_the_drivers),
        cmocka_unit_test(test_warm_starts_start_nothing),
        cmocka_unit_test(test_relative_paths),
        cmocka_unit_test(test_ended_processes_are_replaced),
        cmocka_unit_test(test_probes_run_apart),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
