/* SPDX-License-Identifier: MIT */
/* Shares the work of a command among the ranks of MPI. */
#include "jobs/ranks.h"

#include <stdlib.h>

#include "process/mpirun.h"

#ifndef CLF_HAVE_MPI
#define CLF_HAVE_MPI 0
#endif

#if CLF_HAVE_MPI

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jobs/device_listing.h"
#include "jobs/platform_guard.h"
#include "jobs/pool.h"
#include "console/progress.h"
#include "runtime/device.h"

enum { NAME_BYTES = 256, QUEUE_USEC = 2000 };

typedef struct placed {
    uint64_t first, count; /* rows */
} placed;

struct cli_ranks {
    int rank, size, node_rank, node_size;
    char host[MPI_MAX_PROCESSOR_NAME];
    char device[NAME_BYTES];
    MPI_Win queue;  /* memory of rank 0: index of the next window */
    int64_t *next;  /* that index, on rank 0 */
    int64_t ticket; /* the last window that this rank got; -1: none yet */
    pthread_t server;
    atomic_bool is_over;
    bool serves;
    /* nameless file with the rows that this rank has embedded, one after another; rank 0's begins with room for the header */
    int spool;
    size_t header_bytes, row_bytes, bytes;
    placed *windows;
    size_t count, capacity;
};

/* A thread of rank 0: some MPIs serve other ranks' fetches only while rank 0 calls MPI. */
static void *serve(void *user)
{
    cli_ranks *ranks = user;
    while (!atomic_load(&ranks->is_over)) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(QUEUE_USEC);
    }
    return NULL;
}

/* ---- Which device ---- */

/* Chooses the rank's device among all devices, or without "all" among those like the default device. */
static void choose(cli_ranks *ranks, const cli_device_listing *listing, bool takes_all)
{
    size_t choices[CLI_MOST_LISTED], count = 0;
    for (size_t i = 0; i < listing->count; i++)
        if (takes_all ? listing->devices[i].is_chosen : listing->devices[i].is_like_default)
            choices[count++] = i;
    if (count)
        snprintf(ranks->device, sizeof ranks->device, "%zu", choices[(size_t)ranks->node_rank % count]);
}

/* Chooses the rank's device in "A,B,C". */
static clf_status choose_of_list(cli_ranks *ranks, const char *list)
{
    size_t items = 1;
    for (const char *at = list; *at; at++)
        items += *at == ',';
    for (size_t skip = (size_t)ranks->node_rank % items; skip; skip--)
        list = strchr(list, ',') + 1;
    const int length = (int)strcspn(list, ",");
    if (length >= NAME_BYTES)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--device: expected a name of at most %d bytes", NAME_BYTES - 1);
    snprintf(ranks->device, sizeof ranks->device, "%.*s", length, list);
    return CLF_OK;
}

static clf_status choose_device(cli_ranks *ranks, cli_session *session, const cli_device_listing *listing)
{
    const char *asked;
    CLF_TRY(cli_devices_asked(session->device, &asked));
    if (!asked && clfi_device_selector(session->device))
        return CLF_OK;
    if (asked && strchr(asked, ','))
        CLF_TRY(choose_of_list(ranks, asked));
    else
        choose(ranks, listing, asked != NULL);
    session->device = ranks->device[0] ? ranks->device : NULL;
    return CLF_OK;
}

/* Divides the processors of a machine among its ranks, because PoCL's threads of each rank would fill them all. Numbers of threads that the
 * user set stay. */
static void share_processors(const cli_ranks *ranks)
{
    char text[32];
    const long all = sysconf(_SC_NPROCESSORS_CONF), own = ranks->node_size > 0 ? all / ranks->node_size : all;
    if (ranks->node_size < 2)
        return;
    snprintf(text, sizeof text, "%ld", own > 0 ? own : 1);
    setenv("POCL_MAX_PTHREAD_COUNT", text, 0); /* PoCL before version 5 */
    setenv("POCL_CPU_MAX_CU_COUNT", text, 0);  /* PoCL since version 5 */
    setenv("POCL_AFFINITY", "0", 1);           /* every rank would bind its first thread to the first processor */
}

clf_status cli_ranks_open(cli_session *session, cli_ranks **out)
{
    cli_ranks *ranks;
    cli_device_listing listing;
    MPI_Comm node;
    int provided, length;
    *out = NULL;
    if (cli_mpirun_size() < 2)
        return CLF_OK;
    CLF_TRY(cli_devices_list(cli_mpirun_local_rank() == 0, NULL, &listing)); /* after MPI_Init a crash could not restart the program */
    cli_interrupts_watch(); /* before drivers install handlers, which call this one at their end */
    CLF_TRY(clfi_alloc(1, sizeof *ranks, "ranks", &ranks));
    ranks->ticket = ranks->spool = -1;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) {
        free(ranks);
        CLF_FAIL(CLF_INTERNAL, "MPI_Init_thread failed");
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->size);
    if (ranks->size != cli_mpirun_size()) {
        const int known = ranks->size;
        MPI_Finalize();
        free(ranks);
        CLF_FAIL(CLF_UNSUPPORTED, "mpirun started %ld processes, but MPI reports %d: this program was built with another MPI",
                 cli_mpirun_size(), known);
    }
    MPI_Get_processor_name(ranks->host, &length);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &ranks->node_rank);
    MPI_Comm_size(node, &ranks->node_size);
    MPI_Comm_free(&node);
    MPI_Win_allocate(ranks->rank == 0 ? sizeof *ranks->next : 0, sizeof *ranks->next, MPI_INFO_NULL, MPI_COMM_WORLD, &ranks->next,
                     &ranks->queue);
    if (ranks->rank == 0)
        *ranks->next = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, ranks->queue);
    ranks->serves = ranks->rank == 0 && provided == MPI_THREAD_MULTIPLE && pthread_create(&ranks->server, NULL, serve, ranks) == 0;
    *out = ranks;
    share_processors(ranks);
    return choose_device(ranks, session, &listing);
}

void cli_ranks_close(cli_ranks *ranks)
{
    if (!ranks)
        return;
    MPI_Win_unlock_all(ranks->queue);
    MPI_Barrier(MPI_COMM_WORLD);
    cli_interrupts_remove(NULL); /* rank 0 has named it */
    atomic_store(&ranks->is_over, true);
    if (ranks->serves)
        pthread_join(ranks->server, NULL);
    MPI_Win_free(&ranks->queue);
    MPI_Finalize();
    if (ranks->spool >= 0)
        close(ranks->spool);
    free(ranks->windows);
    free(ranks);
}

void cli_ranks_abort(const cli_ranks *ranks, clf_status st)
{
    if (!ranks || st == CLF_OK)
        return;
    cli_line_clear();
    fprintf(stderr, "clformer: rank %d of %d on %s: %s\n", ranks->rank, ranks->size, ranks->host, clf_last_error());
    fflush(NULL);
    cli_platforms_clean();
    MPI_Abort(MPI_COMM_WORLD, cli_exit_status(st));
}

void cli_ranks_place(const cli_ranks *ranks, size_t *out_rank, size_t *out_size)
{
    *out_rank = ranks ? (size_t)ranks->rank : 0;
    *out_size = ranks ? (size_t)ranks->size : 1;
}

/* ---- One job ---- */

/* Copies rank 0's text `own` to all ranks; the caller frees *out. */
static clf_status spread_text(const cli_ranks *ranks, const char *own, char **out)
{
    int size = ranks->rank == 0 ? (int)strlen(own) + 1 : 0;
    MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CLF_TRY(clfi_alloc((size_t)size, 1, "a job", out));
    if (ranks->rank == 0)
        memcpy(*out, own, (size_t)size);
    MPI_Bcast(*out, size, MPI_CHAR, 0, MPI_COMM_WORLD);
    return CLF_OK;
}

clf_status cli_ranks_agree(const cli_ranks *ranks, const cli_job *job, const char *more)
{
    char *own = NULL, *text = NULL, *more_text = NULL;
    cli_job first = {.shard = 0};
    clf_status st;
    if (!ranks)
        return CLF_OK;
    CLF_GOTO(cli_job_text(job, &own));
    CLF_GOTO(spread_text(ranks, own, &text));
    CLF_GOTO(spread_text(ranks, more, &more_text));
    CLF_GOTO(cli_job_parse(text, "rank 0's job", &first));
    CLF_GOTO(cli_job_same("rank 0", "has", &first, job, false));
    if (strcmp(more, more_text) != 0)
        CLF_GOTO(clfi_fail(CLF_INVALID_ARGUMENT, "rank 0 has other options: %s, here %s", more_text, more));
    st = cli_fingerprint_same_canaries("this rank", &job->made_by, "rank 0's", &first.made_by);
done:
    cli_job_free(&first);
    free(own);
    free(text);
    free(more_text);
    return st;
}

/* ---- Windows ---- */

static bool is_own(void *user, size_t window)
{
    cli_ranks *ranks = user;
    const int64_t one = 1;
    if ((int64_t)window > ranks->ticket) {
        MPI_Fetch_and_op(&one, &ranks->ticket, MPI_INT64_T, 0, 0, MPI_SUM, ranks->queue);
        MPI_Win_flush(0, ranks->queue);
    }
    return (int64_t)window == ranks->ticket;
}

void cli_ranks_take_windows(cli_ranks *ranks, cli_inputs *inputs)
{
    if (!ranks)
        return;
    inputs->wants = is_own;
    inputs->wants_user = ranks;
}

static clf_status spool_window(void *user, const cli_embedded *window)
{
    cli_ranks *ranks = user;
    const size_t bytes = window->count * ranks->row_bytes;
    CLF_TRY(clfi_grow(&ranks->windows, &ranks->capacity, ranks->count + 1, sizeof *ranks->windows, "windows"));
    for (size_t done = 0; done < bytes;) {
        const ssize_t written = pwrite(ranks->spool, (const char *)window->rows + done, bytes - done, (off_t)(ranks->bytes + done));
        if (written < 0 && errno != EINTR)
            return clfi_fail_errno("write", "a rank's temporary file");
        done += written > 0 ? (size_t)written : 0;
    }
    ranks->bytes += bytes;
    ranks->windows[ranks->count++] = (placed){window->first, window->count};
    return CLF_OK;
}

/* ---- The file ---- */

static clf_status check_mpi(int code, const char *call, const char *path)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return CLF_OK;
    MPI_Error_string(code, text, &length);
    CLF_FAIL(CLF_IO, "%s %s: %s", call, path, text);
}

/* Describes this rank's bytes as pieces whose sizes fit an int: their places in the file, and in memory, where they lie one after another.
 * Rank 0's first piece is the header. */
static clf_status make_types(const cli_ranks *ranks, MPI_Datatype *out_file, MPI_Datatype *out_memory)
{
    int *lengths = NULL;
    MPI_Aint *in_file = NULL, *in_memory = NULL, at = 0;
    const size_t extra = ranks->rank == 0, count = ranks->count + extra;
    clf_status st;
    CLF_GOTO(clfi_alloc(count, sizeof *lengths, "windows", &lengths));
    CLF_GOTO(clfi_alloc(count, sizeof *in_file, "windows", &in_file));
    CLF_GOTO(clfi_alloc(count, sizeof *in_memory, "windows", &in_memory));
    for (size_t i = 0; i < count; i++) {
        const placed *window = i < extra ? NULL : &ranks->windows[i - extra];
        lengths[i] = (int)(window ? window->count * ranks->row_bytes : ranks->header_bytes);
        in_file[i] = window ? (MPI_Aint)(ranks->header_bytes + window->first * ranks->row_bytes) : 0;
        in_memory[i] = at;
        at += lengths[i];
    }
    MPI_Type_create_hindexed((int)count, lengths, in_file, MPI_BYTE, out_file);
    MPI_Type_commit(out_file);
    MPI_Type_create_hindexed((int)count, lengths, in_memory, MPI_BYTE, out_memory);
    MPI_Type_commit(out_memory);
done:
    free(lengths);
    free(in_file);
    free(in_memory);
    return st;
}

static clf_status write_file(const cli_ranks *ranks, const char *path, int64_t rows, const char *memory)
{
    MPI_Datatype type, memory_type;
    MPI_File file;
    char native[] = "native";
    CLF_TRY(make_types(ranks, &type, &memory_type));
    CLF_TRY(check_mpi(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &file), "MPI_File_open", path));
    const MPI_Offset bytes = (MPI_Offset)(ranks->header_bytes + (size_t)rows * ranks->row_bytes);
    CLF_TRY(check_mpi(MPI_File_set_size(file, bytes), "MPI_File_set_size", path));
    CLF_TRY(check_mpi(MPI_File_set_view(file, 0, MPI_BYTE, type, native, MPI_INFO_NULL), "MPI_File_set_view", path));
    CLF_TRY(check_mpi(MPI_File_write_all(file, memory, memory ? 1 : 0, memory_type, MPI_STATUS_IGNORE), "MPI_File_write_all", path));
    CLF_TRY(check_mpi(MPI_File_sync(file), "MPI_File_sync", path));
    CLF_TRY(check_mpi(MPI_File_close(&file), "MPI_File_close", path));
    MPI_Type_free(&type);
    MPI_Type_free(&memory_type);
    return CLF_OK;
}

/* Writes the rows of all ranks into the file `path`. Collective. */
static clf_status write_together(cli_ranks *ranks, const char *path, int64_t width)
{
    int64_t own = 0, rows;
    char *memory = NULL;
    for (size_t i = 0; i < ranks->count; i++)
        own += (int64_t)ranks->windows[i].count;
    MPI_Allreduce(&own, &rows, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    clf_str header = CLF_STR_INIT;
    clf_status st = clfi_npy_header(CLF_FILE_F32, 2, (int64_t[]){rows, width}, &header);
    if (st == CLF_OK && ranks->rank == 0 && pwrite(ranks->spool, header.data, header.length, 0) != (ssize_t)header.length)
        st = clfi_fail_errno("write", "a rank's temporary file");
    clfi_str_free(&header);
    CLF_TRY(st);
    if (ranks->bytes && (memory = mmap(NULL, ranks->bytes, PROT_READ, MAP_SHARED, ranks->spool, 0)) == MAP_FAILED)
        return clfi_fail_errno("map", "a rank's temporary file");
    st = write_file(ranks, path, rows, memory);
    if (memory)
        munmap(memory, ranks->bytes);
    return st;
}

static clf_status name_file(cli_fingerprint *made_by, clf_atomic_file *file, const char *output)
{
    clf_npy npy;
    CLF_TRY(clfi_npy_open(file->temporary, &npy));
    made_by->rows = npy.dim[0];
    clfi_hash(npy.data, npy.count * sizeof(float), made_by->data);
    clfi_npy_close(&npy);
    return cli_fingerprint_commit_file(made_by, output, file);
}

static clf_status embed_own(cli_ranks *ranks, cli_session *session, const cli_embedding *options, cli_inputs *inputs, const char *output,
                            clf_embed_stats *stats)
{
    size_t width;
    clf_str header = CLF_STR_INIT;
    CLF_TRY(cli_embedding_width(session, options, &width));
    const clf_status st = clfi_npy_header(CLF_FILE_F32, 2, (int64_t[]){0, (int64_t)width}, &header);
    ranks->row_bytes = width * sizeof(float);
    ranks->header_bytes = header.length;
    ranks->bytes = ranks->rank == 0 ? header.length : 0;
    clfi_str_free(&header);
    CLF_TRY(st);
    CLF_TRY(clfi_spool_open(output, &ranks->spool)); /* beside the output, since /tmp may be memory */
    cli_ranks_take_windows(ranks, inputs);
    return cli_pool_embed(session, options, inputs, spool_window, ranks, stats);
}

clf_status cli_ranks_embed(cli_ranks *ranks, cli_session *session, const cli_embedding *options, const char *directory, const char *file,
                           cli_inputs *inputs, const char *output, clf_embed_stats *stats)
{
    cli_job job = {.shard = 0};
    clf_atomic_file array = {.sink = -1}; /* of rank 0 */
    char *temporary = NULL;
    bool is_named = false;
    clf_status st;
    CLF_GOTO(cli_job_take(session, options, directory, file, inputs->window_texts, 1, 1, &job));
    CLF_GOTO(cli_ranks_agree(ranks, &job, output));
    CLF_GOTO(embed_own(ranks, session, options, inputs, output, stats));
    if (ranks->rank == 0)
        CLF_GOTO(clfi_atomic_open_named(output, &array));
    CLF_GOTO(spread_text(ranks, array.temporary, &temporary));
    cli_interrupts_remove(temporary); /* mpirun ends the others by SIGTERM where one dies in the middle of writing */
    CLF_GOTO(write_together(ranks, temporary, (int64_t)(ranks->row_bytes / sizeof(float))));
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks->rank == 0)
        CLF_GOTO(name_file(&job.made_by, &array, output));
    is_named = true;
done:
    clfi_atomic_abandon(&array);
    if (!is_named && temporary) /* the failure ends all ranks */
        unlink(temporary);
    cli_job_free(&job);
    free(temporary);
    return st;
}

#else

clf_status cli_ranks_open(cli_session *session, cli_ranks **out)
{
    (void)session;
    *out = NULL;
    if (cli_mpirun_size() > 1)
        CLF_FAIL(CLF_UNSUPPORTED, "mpirun started %ld processes, and this program was built without MPI (Debian: libopenmpi-dev)",
                 cli_mpirun_size());
    return CLF_OK;
}

/* Without MPI the functions below are only called without ranks. */
void cli_ranks_close(cli_ranks *ranks)
{
    (void)ranks;
}

void cli_ranks_abort(const cli_ranks *ranks, clf_status st)
{
    (void)ranks;
    (void)st;
}

void cli_ranks_place(const cli_ranks *ranks, size_t *out_rank, size_t *out_size)
{
    (void)ranks;
    *out_rank = 0;
    *out_size = 1;
}

void cli_ranks_take_windows(cli_ranks *ranks, cli_inputs *inputs)
{
    (void)ranks;
    (void)inputs;
}

clf_status cli_ranks_agree(const cli_ranks *ranks, const cli_job *job, const char *more)
{
    (void)ranks, (void)job, (void)more;
    return CLF_OK;
}

clf_status cli_ranks_embed(cli_ranks *ranks, cli_session *session, const cli_embedding *options, const char *directory, const char *file,
                           cli_inputs *inputs, const char *output, clf_embed_stats *stats)
{
    (void)ranks, (void)session, (void)options, (void)directory, (void)file, (void)inputs, (void)output, (void)stats;
    CLF_FAIL(CLF_UNSUPPORTED, "built without MPI");
}

#endif
