/* SPDX-License-Identifier: MIT */
/* clformer-compile: compiles kernels for libclformer, which starts it (runtime/compiler.h). It receives requests from its socket, passes
 * their sources to the driver, and writes the binaries into the library's cache. It also runs probes (runtime/probe.h). It ends when the
 * socket closes, or after CLFI_COMPILER_IDLE_MS without a request. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "clformer/context.h"
#include "runtime/compile_message.h"
#include "runtime/compiler.h"
#include "runtime/context.h"
#include "runtime/probe.h"
#include "runtime/program_build.h"
#include "runtime/program_cache.h"
#include "runtime/shared.h"

/* The first texts of a request, in their order (write_request in runtime/outside_build.c). Pairs of options and a source follow, unless
 * PROBE is not empty. */
enum { PLATFORM, DEVICE, DEVICE_VERSION, DRIVER_VERSION, INDEX, DIRECTORY, KEY, KERNEL, LOCAL, PROBE, FIXED };

enum { TEXTS_MOST = 4096 };

typedef struct request {
    clf_str body;
    char *fixed[FIXED];
    clf_program_texts texts;
} request;

static clf_context *context; /* of the last request's device and directory; NULL: none yet */

static void close_others(void)
{
    const long most = sysconf(_SC_OPEN_MAX);
#ifdef CLOSE_RANGE_CLOEXEC
    if (close_range(CLFI_COMPILE_SOCKET + 1, ~0u, 0) == 0)
        return;
#endif
    for (int i = CLFI_COMPILE_SOCKET + 1; i < most && i < 65536; i++)
        close(i);
}

/* Ends this process when the library's end of the socket closes: nobody waits for the program that is being compiled. */
static void *watch(void *argument)
{
    struct pollfd socket = {CLFI_COMPILE_SOCKET, POLLRDHUP, 0};
    (void)argument;
    while (poll(&socket, 1, -1) < 0 && errno == EINTR)
        ;
    _exit(CLFI_COMPILER_IDLE);
}

static bool receive(void *data, size_t size)
{
    char *at = data;
    while (size > 0) {
        const ssize_t got = recv(CLFI_COMPILE_SOCKET, at, size, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        at += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Returns false if no valid request comes: after CLFI_COMPILER_IDLE_MS, if the socket closed, or without memory. */
static bool receive_request(request *r)
{
    struct pollfd socket = {CLFI_COMPILE_SOCKET, POLLIN, 0};
    clf_compile_header header;
    if (poll(&socket, 1, CLFI_COMPILER_IDLE_MS) == 0 || !receive(&header, sizeof header) || header.mark != CLFI_COMPILE_MARK ||
        header.word != CLFI_COMPILE_REQUEST || header.bytes > CLFI_COMPILE_REQUEST_BYTES)
        return false;
    if (clfi_alloc((size_t)header.bytes + 1, 1, "request", &r->body.data) != CLF_OK)
        return false;
    r->body.length = r->body.capacity = (size_t)header.bytes;
    return receive(r->body.data, r->body.length);
}

static clf_status read_request(request *r)
{
    size_t at = 0, length;
    const char *text;
    for (size_t i = 0; i < FIXED; i++) {
        if (!clfi_compile_take(&r->body, &at, &text, &length))
            CLF_FAIL(CLF_FORMAT, "request: text %zu is missing", i);
        CLF_TRY(clfi_strndup(text, length, &r->fixed[i]));
    }
    CLF_TRY(clfi_alloc(TEXTS_MOST, sizeof *r->texts.list, "request", &r->texts.list));
    while (r->texts.count < TEXTS_MOST && clfi_compile_take(&r->body, &at, &text, &length)) {
        clf_program_text *to = &r->texts.list[r->texts.count++];
        CLF_TRY(clfi_str_append(&to->options, text, length));
        if (!clfi_compile_take(&r->body, &at, &text, &length))
            CLF_FAIL(CLF_FORMAT, "request: a source is missing");
        CLF_TRY(clfi_str_append(&to->source, text, length));
    }
    if ((r->texts.count == 0 && !r->fixed[PROBE][0]) || at != r->body.length)
        CLF_FAIL(CLF_FORMAT, "request: the list of sources is incomplete");
    return CLF_OK;
}

static void free_request(request *r)
{
    for (size_t i = 0; i < FIXED; i++)
        free(r->fixed[i]);
    clfi_program_texts_free(&r->texts);
    clfi_str_free(&r->body);
}

static bool is_same_device(const clf_device_info *info, const request *r)
{
    return strcmp(info->platform_name, r->fixed[PLATFORM]) == 0 && strcmp(info->name, r->fixed[DEVICE]) == 0 &&
           strcmp(info->device_version, r->fixed[DEVICE_VERSION]) == 0 && strcmp(info->driver_version, r->fixed[DRIVER_VERSION]) == 0;
}

/* Finds the index of the request's device in this process. If several devices are equal, the one with the library's index is preferred. */
static clf_status find_device(const request *r, size_t *out)
{
    clf_device_list *list;
    const size_t wanted = strtoull(r->fixed[INDEX], NULL, 10);
    size_t found = SIZE_MAX;
    CLF_TRY(clf_device_list_create(&list));
    for (size_t i = 0; i < clf_device_list_count(list); i++)
        if (clf_device_list_get(list, i)->usable && is_same_device(clf_device_list_get(list, i), r) && (found == SIZE_MAX || i == wanted))
            found = i;
    clf_device_list_destroy(list);
    if (found == SIZE_MAX)
        CLF_FAIL(CLF_NOT_FOUND, "expected the device %s (%s, driver %s), which this process does not see", r->fixed[DEVICE],
                 r->fixed[PLATFORM], r->fixed[DRIVER_VERSION]);
    *out = found;
    return CLF_OK;
}

static clf_status open_context(const request *r)
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    char selector[24];
    size_t index = 0;
    CLF_TRY(find_device(r, &index));
    snprintf(selector, sizeof selector, "%zu", index);
    params.device = selector;
    params.cache_dir = params.engines = params.tuned_file = "";
    CLF_TRY(clf_context_create(&params, &context));
    if (!is_same_device(clf_context_device(context), r))
        CLF_FAIL(CLF_NOT_FOUND, "the devices have changed since the start");
    clfi_program_cache_open(context, r->fixed[DIRECTORY]);
    if (!context->shared->cache)
        CLF_FAIL(CLF_IO, "%s", clf_last_error());
    return CLF_OK;
}

/* Names the kernel's work-group size for PoCL. PoCL's binaries have machine code for work-groups of any size, and additional code for the
 * sizes in POCL_BINARY_SPECIALIZE_WG. PoCL reads the variable when it makes a binary. */
static void name_group_size(const request *r, cl_program program)
{
    size_t size[3] = {0};
    char text[96];
    cl_kernel kernel = clCreateKernel(program, r->fixed[KERNEL], NULL);
    if (kernel)
        clGetKernelWorkGroupInfo(kernel, context->device.id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof size, size, NULL);
    if (kernel)
        clReleaseKernel(kernel);
    if (size[0])
        snprintf(text, sizeof text, "%zu-%zu-%zu-goffs0-smallgrid", size[0], size[1], size[2]);
    else
        snprintf(text, sizeof text, "%s%s", r->fixed[LOCAL], r->fixed[LOCAL][0] ? "-goffs0-smallgrid" : "");
    setenv("POCL_BINARY_SPECIALIZE_WG", text, 1);
}

/* Makes `context` that of the request's device and directory. */
static clf_status find_context(const request *r)
{
    if (context && context->shared->cache && is_same_device(clf_context_device(context), r) &&
        strcmp(context->shared->cache->path, r->fixed[DIRECTORY]) == 0)
        return CLF_OK;
    clf_context_destroy(context);
    context = NULL;
    return open_context(r);
}

static clf_compile_word compile(request *r)
{
    cl_program program;
    if (read_request(r) != CLF_OK || find_context(r) != CLF_OK)
        return CLFI_COMPILE_USELESS;
    if (r->fixed[PROBE][0]) {
        clfi_probe_run_here(context, (clf_probe)atoi(r->fixed[PROBE]));
        return CLFI_COMPILE_DONE;
    }
    const clf_status built = clfi_program_texts_build(context, r->fixed[KERNEL], &r->texts, &program);
    if (built != CLF_OK)
        return built == CLF_BUILD ? CLFI_COMPILE_REJECTED : CLFI_COMPILE_USELESS;
    name_group_size(r, program);
    const clf_status written = clfi_program_cache_write(context, program, r->fixed[KERNEL], r->fixed[KEY]);
    clReleaseProgram(program);
    return written == CLF_OK ? CLFI_COMPILE_DONE : CLFI_COMPILE_USELESS;
}

int main(void)
{
    pthread_t watcher;
    request r = {.texts.count = 0};
    close_others();
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (pthread_create(&watcher, NULL, watch, NULL) != 0 ||
        !clfi_compile_send(CLFI_COMPILE_SOCKET, CLFI_COMPILE_HELLO, clf_version(), strlen(clf_version()))) {
        fprintf(stderr, "clformer-compile is started by libclformer, to compile kernels\n");
        return EXIT_FAILURE;
    }
    while (receive_request(&r)) {
        const clf_compile_word word = compile(&r);
        const char *text = word == CLFI_COMPILE_DONE ? "" : clf_last_error();
        if (!clfi_compile_send(CLFI_COMPILE_SOCKET, word, text, strlen(text)))
            break;
        free_request(&r);
        r = (request){.texts.count = 0};
    }
    _exit(CLFI_COMPILER_IDLE); /* without the drivers' own destructors */
}
