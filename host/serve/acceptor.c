/* SPDX-License-Identifier: MIT */
/* Accepts the HTTP server's connections in a thread. */
#include "serve/acceptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

enum { PAUSE_US = 20000 }; /* before the next try, if descriptors or memory have run out */

struct srv_acceptor {
    pthread_t thread;
    int listening, wake[2];
    void (*take)(void *user, int fd, const struct sockaddr *address, socklen_t size);
    void *user;
};

static void accept_all(const srv_acceptor *acceptor)
{
    for (;;) {
        struct sockaddr_storage address;
        socklen_t size = sizeof address;
        const int fd = accept4(acceptor->listening, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                usleep(PAUSE_US);
            return;
        }
        acceptor->take(acceptor->user, fd, (struct sockaddr *)&address, size);
    }
}

static void *run(void *user)
{
    const srv_acceptor *acceptor = user;
    struct pollfd fds[] = {{.fd = acceptor->listening, .events = POLLIN}, {.fd = acceptor->wake[0], .events = POLLIN}};
    for (;;) {
        if (poll(fds, COUNT(fds), -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[0].revents)
            accept_all(acceptor);
        if (fds[1].revents) /* behind accept_all: connections that have come get an answer, not a reset */
            return NULL;
    }
}

clf_status srv_acceptor_start(int listening, void (*take)(void *user, int fd, const struct sockaddr *address, socklen_t size), void *user,
                              srv_acceptor **out)
{
    srv_acceptor *acceptor;
    CLF_TRY(clfi_alloc(1, sizeof *acceptor, "acceptor", &acceptor));
    *acceptor = (srv_acceptor){.listening = listening, .take = take, .user = user};
    int fault = pipe2(acceptor->wake, O_CLOEXEC) == 0 ? 0 : errno;
    if (fault == 0 && (fault = pthread_create(&acceptor->thread, NULL, run, acceptor)) != 0) {
        close(acceptor->wake[0]);
        close(acceptor->wake[1]);
    }
    if (fault != 0) {
        free(acceptor);
        CLF_FAIL(CLF_IO, "serve: cannot start the thread that accepts connections: %s", strerror(fault));
    }
    *out = acceptor;
    return CLF_OK;
}

void srv_acceptor_stop(srv_acceptor *acceptor)
{
    if (!acceptor)
        return;
    (void)!write(acceptor->wake[1], "", 1);
    pthread_join(acceptor->thread, NULL);
    close(acceptor->wake[0]);
    close(acceptor->wake[1]);
    close(acceptor->listening);
    free(acceptor);
}
