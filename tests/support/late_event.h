/* SPDX-License-Identifier: MIT */
/* Makes an event that completes a tenth of a second after its start, to test commands that have to wait. */
#ifndef CLF_TEST_LATE_EVENT_H
#define CLF_TEST_LATE_EVENT_H

#include <CL/cl.h>
#include <pthread.h>
#include <time.h>

#include "support/check.h"

typedef struct late_event {
    cl_event event;
    pthread_t thread;
} late_event;

static inline cl_event late_event_create(cl_context context, late_event *late)
{
    cl_int code;
    late->event = clCreateUserEvent(context, &code);
    assert_int_equal(code, CL_SUCCESS);
    return late->event;
}

static void *late_event_complete(void *event)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    clSetUserEventStatus(event, CL_COMPLETE);
    return NULL;
}

/* Starts the tenth of a second; call it after the commands that wait are enqueued. */
static inline void late_event_start(late_event *late)
{
    assert_int_equal(pthread_create(&late->thread, NULL, late_event_complete, late->event), 0);
}

/* Waits for the thread and releases the event. */
static inline void late_event_end(late_event *late)
{
    pthread_join(late->thread, NULL);
    clReleaseEvent(late->event);
}

#endif
