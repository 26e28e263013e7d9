/* SPDX-License-Identifier: MIT */
/* Looks at all connections ten times a second, and more often while clients send on after their answer. */
#include "serve/watch.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jobs/patience.h"

#define SECOND UINT64_C(1000000000)

enum {
    READING_SECONDS = 20,
    LEAST_RATE = 4096, /* bytes per second of a body that keep a connection */
    LINGER_SECONDS = 3,
    TICK_MS = 100,
    LINGER_TICK_MS = 2,
    MOST_LINGERING = 256,
    MOST_VICTIMS = 64,
    MOST_PINGED = 256
};

/* A client closes its side when it leaves, but also when it only has nothing more to send. Short answers are finished within this time.
 * After it the watch sends an interim response (100 Continue): a client that has left replies with a reset. */
#define LEFT_NS (SECOND / 2)

typedef struct lingering {
    int fd;
    uint64_t until_ns;
} lingering;

typedef struct victim {
    srv_job *job; /* a reference */
    srv_error error;
} victim;

struct srv_watch {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    srv_queue *queue;
    uint64_t request_ns, reading_ns, idle_ns;
    srv_connection *first;
    lingering lingering[MOST_LINGERING];
    size_t lingering_count;
    bool is_ending;
};

static _Thread_local srv_connection *own_connections; /* those that this thread opened */

/* ---- Connections ---- */

static void list_own(srv_connection *connection)
{
    connection->own_next = own_connections;
    if (own_connections)
        own_connections->own_before = connection;
    own_connections = connection;
}

static void unlist_own(srv_connection *connection)
{
    if (connection->own_before)
        connection->own_before->own_next = connection->own_next;
    else
        own_connections = connection->own_next;
    if (connection->own_next)
        connection->own_next->own_before = connection->own_before;
}

srv_connection *srv_watch_own(void)
{
    return own_connections;
}

void srv_watch_open(srv_watch *watch, int fd, srv_connection **out)
{
    srv_connection *connection = calloc(1, sizeof *connection);
    *out = connection;
    if (!connection)
        return;
    connection->fd = fd;
    connection->began_ns = connection->since_ns = clfi_now_ns();
    connection->is_modern = true;
    list_own(connection);
    pthread_mutex_lock(&watch->lock);
    connection->next = watch->first;
    if (watch->first)
        watch->first->before = connection;
    watch->first = connection;
    pthread_mutex_unlock(&watch->lock);
}

/* Lets the client send for a while after the connection's end. Otherwise it would get a reset in place of its answer. */
static void begin_linger(srv_watch *watch, int fd)
{
    const int copy = watch->lingering_count < MOST_LINGERING ? dup(fd) : -1;
    if (copy < 0)
        return;
    shutdown(copy, SHUT_WR);
    watch->lingering[watch->lingering_count++] = (lingering){copy, clfi_now_ns() + LINGER_SECONDS * SECOND};
    pthread_cond_signal(&watch->changed);
}

void srv_watch_close(srv_watch *watch, srv_connection *connection)
{
    unlist_own(connection);
    pthread_mutex_lock(&watch->lock);
    if (connection->before)
        connection->before->next = connection->next;
    else
        watch->first = connection->next;
    if (connection->next)
        connection->next->before = connection->before;
    if (connection->lingers)
        begin_linger(watch, connection->fd);
    pthread_mutex_unlock(&watch->lock);
    srv_job_release(connection->job);
    free(connection);
}

/* Counts the bytes that have come over the connection. False: it is no TCP connection. */
static bool count_received(int fd, uint64_t *out)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return false;
    *out = info.tcpi_bytes_received;
    return true;
}

static uint64_t count_unread(int fd)
{
    int unread = 0;
    return ioctl(fd, FIONREAD, &unread) == 0 ? (uint64_t)unread : 0;
}

/* If bytes come between the two calls, this counts too many bytes and srv_watch_set too few, so that they differ. */
bool srv_watch_has_read(const srv_connection *connection)
{
    const uint64_t unread = count_unread(connection->fd);
    uint64_t received;
    return !count_received(connection->fd, &received) || received - unread != connection->read_bytes;
}

void srv_watch_set(srv_watch *watch, srv_connection *connection, srv_phase phase, srv_job *job)
{
    if (job)
        srv_job_hold(job);
    uint64_t received;
    if (phase == SRV_PHASE_IDLE && count_received(connection->fd, &received))
        connection->read_bytes = received - count_unread(connection->fd);
    pthread_mutex_lock(&watch->lock);
    srv_job *old = connection->job;
    connection->job = job;
    connection->phase = phase;
    connection->began_ns = connection->since_ns = clfi_now_ns();
    connection->was_probed = false;
    connection->left_ns = 0;
    pthread_mutex_unlock(&watch->lock);
    srv_job_release(old);
}

void srv_watch_receive(srv_watch *watch, srv_connection *connection, size_t bytes)
{
    const uint64_t now = clfi_now_ns(), more = bytes * (SECOND / LEAST_RATE);
    pthread_mutex_lock(&watch->lock);
    const uint64_t age = now - connection->since_ns;
    connection->since_ns += more < age ? more : age;
    pthread_mutex_unlock(&watch->lock);
}

/* ---- The look ---- */

/* Whether the client sends nothing more. It was silent for `most` nanoseconds, or closed its side before the end of its request, which
 * libmicrohttpd notices late. Bytes that have come but are unread count, so that a process that was stopped for a while ends nothing. */
static bool is_over(srv_connection *connection, uint64_t now, uint64_t most)
{
    struct pollfd poll_one = {.fd = connection->fd, .events = POLLRDHUP};
    const bool is_late = now - connection->since_ns > most, has_event = poll(&poll_one, 1, 0) > 0;
    int unread = 0;
    if (!(is_late || has_event) || ioctl(connection->fd, FIONREAD, &unread) != 0 || unread > 0)
        return false;
    if (is_late)
        return true;
    if (connection->left_ns == 0)
        connection->left_ns = now;
    return now - connection->left_ns > LEFT_NS;
}

/* Whether the client of a request that waits has left. */
static bool has_left(srv_connection *connection, uint64_t now)
{
    static const char probe[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct pollfd poll_one = {.fd = connection->fd, .events = POLLRDHUP};
    if (poll(&poll_one, 1, 0) <= 0)
        return false;
    if (poll_one.revents & (POLLERR | POLLHUP | POLLNVAL))
        return true;
    if (!(poll_one.revents & POLLRDHUP))
        return false;
    if (connection->left_ns == 0)
        connection->left_ns = now;
    if (connection->phase == SRV_PHASE_WAITING && connection->is_modern && !connection->was_probed && now - connection->left_ns > LEFT_NS) {
        connection->was_probed = true;
        (void)!send(connection->fd, probe, sizeof probe - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    return false;
}

/* Shuts down a connection that is late. True: *out has a job to cancel, and why. */
static bool look(const srv_watch *watch, srv_connection *connection, uint64_t now, victim *out)
{
    const uint64_t age = now - connection->since_ns;
    switch (connection->phase) {
    case SRV_PHASE_IDLE:
        if (is_over(connection, now, watch->idle_ns))
            shutdown(connection->fd, SHUT_RDWR);
        return false;
    case SRV_PHASE_READING:
        if (is_over(connection, now, watch->reading_ns) || now - connection->began_ns > watch->request_ns)
            shutdown(connection->fd, SHUT_RDWR);
        return false;
    case SRV_PHASE_SENDING:
    case SRV_PHASE_WAITING:
        break;
    }
    if (!connection->job) {
        if (age > watch->request_ns)
            shutdown(connection->fd, SHUT_RDWR); /* the client does not read its answer */
        return false;
    }
    if (has_left(connection, now)) {
        srv_refuse(&out->error, SRV_FAULT_LEFT, NULL, "the client has left");
    } else if (now - connection->job->came_ns > watch->request_ns) {
        srv_refuse(&out->error, SRV_FAULT_LATE, NULL, "the request took longer than the server's time limit of %llu s (--timeout)",
                   (unsigned long long)(watch->request_ns / SECOND));
        if (connection->phase == SRV_PHASE_SENDING && now - connection->job->came_ns > watch->request_ns + 10 * SECOND)
            shutdown(connection->fd, SHUT_RDWR);
    } else {
        return false;
    }
    if (atomic_load(&connection->job->is_cancelled))
        return false;
    out->job = connection->job;
    srv_job_hold(out->job);
    return true;
}

/* Reads and drops what clients of ended connections still send. */
static void drain(srv_watch *watch, uint64_t now)
{
    static _Thread_local char sink[1 << 16];
    for (size_t i = watch->lingering_count; i-- > 0;) {
        ssize_t size;
        size_t reads = 0;
        while ((size = recv(watch->lingering[i].fd, sink, sizeof sink, MSG_DONTWAIT)) > 0 && reads++ < 256) {
        }
        const bool goes_on = size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
        if (goes_on && now < watch->lingering[i].until_ns && !watch->is_ending)
            continue;
        close(watch->lingering[i].fd);
        watch->lingering[i] = watch->lingering[--watch->lingering_count];
    }
}

static void wait_tick(srv_watch *watch)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (watch->lingering_count ? LINGER_TICK_MS : TICK_MS) * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
}

/* Lists the jobs of streams that were not woken for a while, with references. */
static size_t find_quiet(const srv_watch *watch, uint64_t now, srv_job *out[MOST_PINGED])
{
    size_t count = 0;
    for (srv_connection *c = watch->first; c && count < MOST_PINGED; c = c->next) {
        if (c->phase != SRV_PHASE_SENDING || !c->job || now - c->pinged_ns < SRV_PING_NS)
            continue;
        c->pinged_ns = now;
        out[count++] = c->job;
        srv_job_hold(c->job);
    }
    return count;
}

static void *run(void *user)
{
    srv_watch *watch = user;
    victim victims[MOST_VICTIMS];
    srv_job *quiet[MOST_PINGED];
    bool is_ending = false;
    uint64_t looked = 0;
    while (!is_ending) {
        size_t count = 0, quiet_count = 0;
        pthread_mutex_lock(&watch->lock);
        wait_tick(watch);
        const uint64_t now = clfi_now_ns();
        drain(watch, now);
        is_ending = watch->is_ending;
        if (now - looked > TICK_MS * SECOND / 1000 / 2) {
            for (srv_connection *c = watch->first; c && count < MOST_VICTIMS; c = c->next)
                count += look(watch, c, now, &victims[count]);
            quiet_count = find_quiet(watch, now, quiet);
            looked = now;
        }
        pthread_mutex_unlock(&watch->lock);
        for (size_t i = 0; i < count; i++) { /* without the lock: it wakes HTTP's threads */
            srv_job_cancel(victims[i].job, &victims[i].error);
            srv_job_release(victims[i].job);
        }
        for (size_t i = 0; i < quiet_count; i++) {
            srv_job_tell(quiet[i]);
            srv_job_release(quiet[i]);
        }
        if (count)
            srv_queue_wake(watch->queue);
    }
    return NULL;
}

clf_status srv_watch_start(size_t seconds, srv_queue *queue, srv_watch **out)
{
    srv_watch *watch;
    CLF_TRY(clfi_alloc(1, sizeof *watch, "watch", &watch));
    watch->request_ns = (uint64_t)seconds * SECOND;
    watch->reading_ns = (seconds < READING_SECONDS ? seconds : READING_SECONDS) * SECOND;
    watch->idle_ns = (uint64_t)(cli_patience.idle * (double)SECOND);
    watch->queue = queue;
    pthread_mutex_init(&watch->lock, NULL);
    pthread_cond_init(&watch->changed, NULL);
    const int fault = pthread_create(&watch->thread, NULL, run, watch);
    if (fault != 0) {
        free(watch);
        CLF_FAIL(CLF_IO, "serve: cannot start the thread that watches connections: %s", strerror(fault));
    }
    *out = watch;
    return CLF_OK;
}

void srv_watch_stop(srv_watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->is_ending = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}
