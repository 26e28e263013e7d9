/* SPDX-License-Identifier: MIT */
/* A library to preload that lets the driver's compiler die, in whatever process it runs. Programs are numbered in the order in which they
 * are first compiled, over all processes. The chosen one ends its process each time.
 *
 *   CLF_DYING=N or FIRST-LAST   which programs; absent: none
 *   CLF_DYING_HOW=abort         says "LLVM ERROR: out of cheese" and aborts (the default); exit: ends with status 0; hang: never returns
 *   CLF_DYING_LIST=FILE         one line for each program that was compiled, in their order; shared by the processes of a run */
#include <CL/cl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define REAL(function)                                    \
    __typeof__(function) *real;                           \
    {                                                     \
        void *const symbol = dlsym(RTLD_NEXT, #function); \
        memcpy(&real, &symbol, sizeof real);              \
    }

enum { LINE = 32, PROGRAMS = 256 };

static struct {
    cl_program program;
    unsigned long long hash;
} made[PROGRAMS];

static unsigned long long hash_text(unsigned long long hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}

/* The number of the program with that line in the list, to which it is added where it is new. */
static long number_of(const char *line)
{
    const char *path = getenv("CLF_DYING_LIST");
    char known[LINE + 1] = "";
    const int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    long number = 1;
    if (file < 0 || flock(file, LOCK_EX) != 0)
        return 0;
    while (read(file, known, LINE) == LINE && memcmp(known, line, LINE) != 0)
        number++;
    if (memcmp(known, line, LINE) != 0 && write(file, line, LINE) != LINE)
        number = 0;
    close(file);
    return number;
}

static void die(void)
{
    static const char text[] = "some words before\nLLVM ERROR: out of cheese\n";
    const char *how = getenv("CLF_DYING_HOW");
    if (how && strcmp(how, "hang") == 0)
        for (;;)
            pause();
    if (how && strcmp(how, "exit") == 0)
        _exit(0);
    if (write(STDERR_FILENO, text, sizeof text - 1) > 0)
        abort();
}

static void compile(cl_program program, const char *options)
{
    char line[LINE + 1];
    unsigned long long hash = 0xcbf29ce484222325u;
    const char *chosen = getenv("CLF_DYING");
    long first = 0, last = 0;
    for (size_t i = 0; i < PROGRAMS; i++)
        if (made[i].program == program)
            hash = made[i].hash;
    if (!options || !options[0]) /* of a program that a binary was loaded into */
        return;
    hash = hash_text(hash, options, strlen(options));
    snprintf(line, sizeof line, "%031llu\n", hash);
    const long number = number_of(line);
    const int read = chosen ? sscanf(chosen, "%ld-%ld", &first, &last) : 0;
    if (number > 0 && read > 0 && number >= first && number <= (read == 2 ? last : first))
        die();
}

__attribute__((visibility("default"))) cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                                                            const size_t *lengths, cl_int *code)
{
    static size_t next;
    unsigned long long hash = 0xcbf29ce484222325u;
    REAL(clCreateProgramWithSource)
    for (cl_uint i = 0; i < count; i++)
        hash = hash_text(hash, texts[i], lengths && lengths[i] ? lengths[i] : strlen(texts[i]));
    const cl_program program = real(context, count, texts, lengths, code);
    made[next % PROGRAMS].program = program;
    made[next++ % PROGRAMS].hash = hash;
    return program;
}

__attribute__((visibility("default"))) cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                                                             const char *options, void(CL_CALLBACK *done)(cl_program, void *), void *user)
{
    REAL(clBuildProgram)
    compile(program, options);
    return real(program, count, devices, options, done, user);
}

__attribute__((visibility("default"))) cl_int clCompileProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                                                               const char *options, cl_uint headers, const cl_program *header_programs,
                                                               const char **names, void(CL_CALLBACK *done)(cl_program, void *), void *user)
{
    REAL(clCompileProgram)
    compile(program, options);
    return real(program, count, devices, options, headers, header_programs, names, done, user);
}
