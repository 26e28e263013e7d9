/* SPDX-License-Identifier: MIT */
/* Mapped files through POSIX: mmap, and a handler for the pages that a file loses. */
#include "base/file_map.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

/* Address range of a mapped file. The handler may walk the list at any moment, so entries are never freed; later mappings reuse them. */
typedef struct guarded_range {
    atomic_uintptr_t begin; /* 0: not in use */
    atomic_uintptr_t end;
    struct guarded_range *next;
} guarded_range;

static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER; /* for writers */
static guarded_range *_Atomic ranges;
static struct sigaction previous;
static _Thread_local volatile sig_atomic_t is_passing_on; /* ends a circle: the previous handler may call ours as its previous one */

static bool is_guarded(uintptr_t address)
{
    for (guarded_range *range = atomic_load(&ranges); range; range = range->next) {
        const uintptr_t begin = atomic_load(&range->begin), end = atomic_load(&range->end);
        if (begin && address >= begin && address < end && begin == atomic_load(&range->begin))
            return true;
    }
    return false;
}

/* POSIX does not list mmap as safe in a handler. It is one system call here that touches no state of the process. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const int saved = errno;
    const uintptr_t address = (uintptr_t)info->si_addr, page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    const bool is_replaced = is_guarded(address) &&
                             mmap((void *)(address - address % page_bytes), page_bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    const bool has_previous = (previous.sa_flags & SA_SIGINFO) || (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN);
    if (is_replaced) {
        errno = saved;
    } else if (has_previous && !is_passing_on) {
        is_passing_on = 1;
        if (previous.sa_flags & SA_SIGINFO)
            previous.sa_sigaction(number, info, context);
        else
            previous.sa_handler(number);
        is_passing_on = 0;
    } else {
        signal(number, SIG_DFL);
        raise(number);
    }
}

/* A handler that somebody else installed since the last mapping becomes `previous`, which gets all addresses outside mapped files. */
static void install_handler(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART}, now;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, NULL, &now) != 0 || ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus_error))
        return;
    previous = now;
    sigaction(SIGBUS, &action, NULL);
}

/* Reserves an entry for a mapping that is about to be made. */
static clf_status take_range(guarded_range **out)
{
    clf_status st = CLF_OK;
    pthread_mutex_lock(&ranges_lock);
    install_handler();
    guarded_range *range = atomic_load(&ranges);
    while (range && atomic_load(&range->end) != 0)
        range = range->next;
    if (!range) {
        st = clfi_alloc(1, sizeof *range, "mapped file", &range);
        if (st == CLF_OK) {
            range->next = atomic_load(&ranges);
            atomic_store(&range->end, 1); /* taken */
            atomic_store(&ranges, range);
        }
    } else {
        atomic_store(&range->end, 1);
    }
    pthread_mutex_unlock(&ranges_lock);
    *out = range;
    return st;
}

static void give_range(guarded_range *range)
{
    atomic_store(&range->begin, 0);
    atomic_store(&range->end, 0);
}

static clf_status create(const char *path, clf_file_map **out)
{
    clf_file_map *map;
    CLF_TRY(clfi_alloc(1, sizeof *map, "mapped file", &map));
    map->descriptor = -1;
    atomic_init(&map->references, 1);
    const clf_status st = clfi_strdup(path, &map->path);
    if (st != CLF_OK) {
        free(map);
        return st;
    }
    *out = map;
    return CLF_OK;
}

static clf_status map_pages(clf_file_map *map)
{
    struct stat info;
    CLF_TRY(clfi_file_open_regular(map->path, &map->descriptor));
    if (fstat(map->descriptor, &info) != 0)
        return clfi_fail_errno("stat", map->path);
    map->size = (size_t)info.st_size;
    map->modified = info.st_mtim;
    if (map->size == 0)
        return CLF_OK;
    CLF_TRY(take_range(&map->guard));
    /* Writable private pages: some OpenCL drivers refuse host pointers that they could not write to. Nothing is written. */
    void *data = mmap(NULL, map->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, map->descriptor, 0);
    if (data == MAP_FAILED)
        return clfi_fail_errno("map", map->path);
    map->data = data;
    atomic_store(&map->guard->end, (uintptr_t)data + map->size);
    atomic_store(&map->guard->begin, (uintptr_t)data);
    return CLF_OK;
}

clf_status clfi_file_map(const char *path, clf_file_map **out)
{
    clf_file_map *map;
    CLF_TRY(create(path, &map));
    const clf_status st = map_pages(map);
    if (st != CLF_OK) {
        clfi_file_map_release(map);
        return st;
    }
    *out = map;
    return CLF_OK;
}

clf_status clfi_file_map_borrow(const void *data, size_t size, const char *name, clf_file_map **out)
{
    CLF_TRY(create(name, out));
    (*out)->data = data;
    (*out)->size = size;
    return CLF_OK;
}

clf_file_map *clfi_file_map_retain(clf_file_map *map)
{
    atomic_fetch_add(&map->references, 1);
    return map;
}

void clfi_file_map_release(clf_file_map *map)
{
    if (!map || atomic_fetch_sub(&map->references, 1) > 1)
        return;
    if (map->descriptor >= 0 && map->data)
        munmap((void *)map->data, map->size);
    if (map->guard)
        give_range(map->guard);
    if (map->descriptor >= 0)
        close(map->descriptor);
    free(map->path);
    free(map);
}

clf_status clfi_file_map_check(const clf_file_map *map)
{
    struct stat now;
    if (map->descriptor < 0)
        return CLF_OK;
    if (fstat(map->descriptor, &now) != 0)
        return clfi_fail_errno("stat", map->path);
    if ((size_t)now.st_size != map->size)
        CLF_FAIL(CLF_IO, "%s: expected %zu bytes as when it was opened, found %lld: it was changed while it was in use", map->path,
                 map->size, (long long)now.st_size);
    if (now.st_mtim.tv_sec != map->modified.tv_sec || now.st_mtim.tv_nsec != map->modified.tv_nsec)
        CLF_FAIL(CLF_IO, "%s: was written to while it was in use", map->path);
    return CLF_OK;
}

void clfi_file_map_forget(const clf_file_map *map, size_t offset, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t first = (offset + page - 1) / page * page; /* whole pages inside the range only */
    const size_t last = (offset + size) / page * page;
    if (map->descriptor >= 0 && map->data && last > first && last <= map->size)
        madvise((void *)(map->data + first), last - first, MADV_DONTNEED);
}
