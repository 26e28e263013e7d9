/* SPDX-License-Identifier: MIT */
/* Opens the listening socket, and speaks the protocol of systemd's services. */
#include "serve/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024, FIRST_PASSED = 3 };

static int passed_socket(void)
{
    const char *process = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    if (!process || !count || strtol(process, NULL, 10) != (long)getpid() || strtol(count, NULL, 10) < 1)
        return -1;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return FIRST_PASSED;
}

static clf_status fail_port(const char *host, size_t port, const char *why)
{
    CLF_FAIL(CLF_IO, "serve: port %zu of %s: %s (choose another: --port N)", port, host, why);
}

/* Listens on the first address of the list that allows it; -1: none does. *fault: errno of the last failure. */
static int open_any(const struct addrinfo *list, int *fault)
{
    const int yes = 1;
    for (const struct addrinfo *at = list; at; at = at->ai_next) {
        const int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 && bind(fd, at->ai_addr, at->ai_addrlen) == 0 &&
            listen(fd, BACKLOG) == 0)
            return fd;
        *fault = errno;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

static clf_status open_own(const char *host, size_t port, int *out)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list;
    char number[16];
    int fault = 0;
    if (port > 65535)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "serve: --port: expected a number from 0 to 65535, found %zu", port);
    snprintf(number, sizeof number, "%zu", port);
    const int unknown = getaddrinfo(host, number, &wanted, &list);
    if (unknown != 0)
        CLF_FAIL(CLF_IO, "serve: --host %s: %s", host, gai_strerror(unknown));
    *out = open_any(list, &fault);
    freeaddrinfo(list);
    return *out < 0 ? fail_port(host, port, strerror(fault)) : CLF_OK;
}

static clf_status write_address(int fd, clf_str *address)
{
    struct sockaddr_storage own;
    socklen_t size = sizeof own;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getsockname(fd, (struct sockaddr *)&own, &size) != 0 || own.ss_family == AF_UNIX ||
        getnameinfo((struct sockaddr *)&own, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return clfi_str_append_text(address, "the socket that systemd passed");
    return clfi_str_appendf(address, own.ss_family == AF_INET6 ? "http://[%s]:%s" : "http://%s:%s", host, port);
}

clf_status srv_listen(const char *host, size_t port, int *out, clf_str *address)
{
    *out = passed_socket();
    if (*out < 0)
        CLF_TRY(open_own(host, port, out));
    fcntl(*out, F_SETFL, fcntl(*out, F_GETFL) | O_NONBLOCK);
    fcntl(*out, F_SETFD, FD_CLOEXEC);
    const clf_status st = write_address(*out, address);
    if (st != CLF_OK)
        close(*out);
    return st;
}

bool srv_is_loopback(int fd)
{
    struct sockaddr_storage own = {.ss_family = AF_UNSPEC};
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    socklen_t size = sizeof own;
    if (getsockname(fd, (struct sockaddr *)&own, &size) != 0)
        return false;
    memcpy(&four, &own, sizeof four);
    memcpy(&six, &own, sizeof six);
    return (own.ss_family == AF_INET && ntohl(four.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET) ||
           (own.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six.sin6_addr));
}

void srv_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, strlen(path));
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
    close(fd);
}
