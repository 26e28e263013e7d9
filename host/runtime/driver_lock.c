/* SPDX-License-Identifier: MIT */
/* Holds the process's lock for driver calls, and sets the drivers' environment variables once. */
#include "runtime/driver_lock.h"

#include <pthread.h>

#include "runtime/pocl.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

void clfi_driver_prepare(void)
{
    pthread_once(&prepared, clfi_pocl_prepare);
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
