/* SPDX-License-Identifier: MIT */
/* One lock for the process. */
#include "runtime/driver_lock.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

/* PoCL's threads stay on their processors. */
static void prepare(void)
{
    setenv("POCL_AFFINITY", "1", 0);
}

void clfi_driver_prepare(void)
{
    pthread_once(&prepared, prepare);
}

void clfi_driver_lock(bool is_needed)
{
    if (is_needed)
        pthread_mutex_lock(&lock);
}

void clfi_driver_unlock(bool is_needed)
{
    if (is_needed)
        pthread_mutex_unlock(&lock);
}
