/* SPDX-License-Identifier: MIT */
/* Creates and frees the objects that contexts of one cl_context share. */
#include "runtime/shared.h"

#include "base/alloc.h"
#include "runtime/compiler_pool.h"

void clfi_program_destroy(clf_program *program)
{
    if (program->handle)
        clReleaseProgram(program->handle);
    free(program->kernel);
    free(program->options);
    free(program->reason);
    free(program);
}

void clfi_shared_void(clf_shared *shared)
{
    pthread_mutex_lock(&shared->lock);
    for (size_t i = 0; i < shared->count; i++) {
        clf_program *program = shared->programs[i];
        if (!program->handle)
            continue;
        clReleaseProgram(program->handle);
        program->handle = NULL;
        program->is_unsaved = false;
        program->is_void = true;
    }
    atomic_store(&shared->is_stuck, false);
    pthread_mutex_unlock(&shared->lock);
}

clf_status clfi_shared_create(clf_shared **out)
{
    clf_shared *shared;
    CLF_TRY(clfi_alloc(1, sizeof *shared, "shared context", &shared));
    if (pthread_mutex_init(&shared->lock, NULL) != 0) {
        free(shared);
        CLF_FAIL(CLF_OUT_OF_MEMORY, "shared context: mutex: not enough memory");
    }
    atomic_init(&shared->references, 1);
    *out = shared;
    return CLF_OK;
}

clf_shared *clfi_shared_retain(clf_shared *shared)
{
    atomic_fetch_add(&shared->references, 1);
    return shared;
}

void clfi_shared_release(clf_shared *shared)
{
    if (!shared || atomic_fetch_sub(&shared->references, 1) > 1)
        return;
    for (size_t i = 0; i < shared->count; i++)
        clfi_program_destroy(shared->programs[i]);
    free(shared->programs);
    clfi_compiler_pool_destroy(shared->compilers);
    clfi_private_directory_close(shared->cache);
    pthread_mutex_destroy(&shared->lock);
    free(shared);
}
