/* SPDX-License-Identifier: MIT */
/* Decides by the caller whether a call fails, and reports at the end. */
#include "shim.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { MAX_RANGES = 32, FRAMES = 12, TABLE_BITS = 17, NAME_BYTES = 256 };

static const char *const class_names[SHIM_CLASS_COUNT] = {"opencl", "memory", "eio", "enospc", "eintr", "short"};
static const char *const kind_names[SHIM_KIND_COUNT] = {"contexts", "queues", "buffers", "programs", "kernels", "events"};

/* --- whose call ---------------------------------------------------------------------------------------------------------------- */

typedef struct {
    uintptr_t first, end, base;
    bool is_program; /* the program or its library; otherwise one that only its allocations are watched of */
    char name[NAME_BYTES];
} range;

static range ranges[MAX_RANGES];
static size_t range_count;

static int collect_ranges(struct dl_phdr_info *info, size_t size, void *is_first)
{
    static const char *const others[] = {"libjansson", "libutf8proc", "libpcre2"};
    (void)size;
    const bool is_library = strstr(info->dlpi_name, "/libclformer") != NULL, is_main = *(bool *)is_first;
    const bool is_program = is_library || (is_main && !getenv("CLF_FAULT_LIBRARY"));
    bool is_watched = is_program;
    *(bool *)is_first = false;
    for (size_t i = 0; i < COUNT(others); i++)
        is_watched |= strstr(info->dlpi_name, others[i]) != NULL;
    for (int i = 0; is_watched && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || range_count == MAX_RANGES)
            continue;
        range *r = &ranges[range_count];
        r->base = info->dlpi_addr;
        r->first = info->dlpi_addr + part->p_vaddr;
        r->end = r->first + part->p_memsz;
        r->is_program = is_program;
        snprintf(r->name, sizeof r->name, "%s", info->dlpi_name);
        if (!r->name[0] && readlink("/proc/self/exe", r->name, sizeof r->name - 1) < 0)
            snprintf(r->name, sizeof r->name, "program");
        range_count++;
    }
    return 0;
}

static const range *range_of(const void *address)
{
    const uintptr_t at = (uintptr_t)address;
    for (size_t i = 0; i < range_count; i++)
        if (at >= ranges[i].first && at < ranges[i].end)
            return &ranges[i];
    return NULL;
}

bool shim_watches(const void *caller)
{
    const range *r = range_of(caller);
    return r && r->is_program;
}

bool shim_watches_memory(const void *caller)
{
    return range_of(caller) != NULL;
}

/* --- tables of pointers: open addressing, removal by shifting back -------------------------------------------------------------- */

typedef struct {
    void *key;
    int count, kind;
    void *frames[FRAMES];
    int frame_count;
} entry;

typedef struct {
    entry *entries;
    size_t used;
} table;

static size_t untracked; /* pointers that found no room in their table */

static table blocks, mappings, objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool keeps_stacks;

static size_t slot_of(const void *key)
{
    return (size_t)((uint64_t)((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> (64 - TABLE_BITS));
}

/* The entry of a key; else the empty one where it belongs, or NULL where the table is full or was never made. */
static entry *find(const table *t, const void *key)
{
    const size_t mask = ((size_t)1 << TABLE_BITS) - 1;
    if (!t->entries || t->used > mask / 4 * 3)
        return NULL;
    size_t at = slot_of(key);
    while (t->entries[at].key && t->entries[at].key != key)
        at = (at + 1) & mask;
    return &t->entries[at];
}

static entry *add(table *t, void *key)
{
    entry *e = find(t, key);
    untracked += e == NULL;
    if (e && !e->key) {
        memset(e, 0, sizeof *e);
        e->key = key;
        t->used++;
    }
    return e;
}

static void erase(table *t, entry *e)
{
    const size_t mask = ((size_t)1 << TABLE_BITS) - 1;
    size_t hole = (size_t)(e - t->entries);
    for (size_t at = (hole + 1) & mask; t->entries[at].key; at = (at + 1) & mask)
        if (((at - slot_of(t->entries[at].key)) & mask) >= ((at - hole) & mask)) {
            t->entries[hole] = t->entries[at];
            hole = at;
        }
    t->entries[hole].key = NULL;
    t->used--;
}

static void remove_key(table *t, void *key)
{
    pthread_mutex_lock(&lock);
    entry *e = key && t->used ? find(t, key) : NULL;
    if (e && e->key)
        erase(t, e);
    pthread_mutex_unlock(&lock);
}

void shim_block_add(void *block, const void *caller)
{
    void *frames[FRAMES];
    int frame_count = 0;
    if (!block)
        return;
    if (keeps_stacks)
        frame_count = backtrace(frames, FRAMES);
    pthread_mutex_lock(&lock);
    entry *e = add(&blocks, block);
    if (e) {
        e->frames[0] = (void *)caller;
        e->frame_count = 1;
        if (frame_count > 2) { /* without this function and the allocation itself */
            e->frame_count = frame_count - 2;
            memcpy(e->frames, frames + 2, (size_t)e->frame_count * sizeof *frames);
        }
    }
    pthread_mutex_unlock(&lock);
}

void shim_block_remove(void *block)
{
    remove_key(&blocks, block);
}

void shim_mapping_add(void *mapping)
{
    pthread_mutex_lock(&lock);
    add(&mappings, mapping);
    pthread_mutex_unlock(&lock);
}

void shim_mapping_remove(void *mapping)
{
    remove_key(&mappings, mapping);
}

void shim_object_retain(shim_kind kind, void *object)
{
    if (!object)
        return;
    pthread_mutex_lock(&lock);
    entry *e = add(&objects, object);
    if (e) {
        e->count++;
        e->kind = kind;
    }
    pthread_mutex_unlock(&lock);
}

void shim_object_release(shim_kind kind, void *object)
{
    (void)kind;
    pthread_mutex_lock(&lock);
    entry *e = object ? find(&objects, object) : NULL;
    if (e && e->key && --e->count <= 0)
        erase(&objects, e);
    pthread_mutex_unlock(&lock);
}

/* --- what is written down -------------------------------------------------------------------------------------------------------- */

static char report_path[4096];
static char report_text[65536];
static size_t report_length;
static pid_t first_process;

static struct { /* the call that was failed */
    char call[64], what[NAME_BYTES];
    void *frames[FRAMES];
    int frame_count;
} struck;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(report_text + report_length, sizeof report_text - report_length, format, arguments);
    va_end(arguments);
    if (length > 0 && report_length + (size_t)length < sizeof report_text)
        report_length += (size_t)length;
}

static void say_text(const char *text)
{
    say("\"");
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == '"' || *text == '\\')
            say("?");
        else
            say("%c", *text);
    say("\"");
}

/* Addresses of the program's own code as [file, offset]. */
static void say_frames(void *const *frames, int count)
{
    const char *comma = "";
    say("[");
    for (int i = 0; i < count; i++) {
        const range *r = range_of(frames[i]);
        if (!r)
            continue;
        say("%s[", comma);
        say_text(r->name);
        say(", %lu]", (unsigned long)((uintptr_t)frames[i] - r->base - 1));
        comma = ", ";
    }
    say("]");
}

static void say_struck(void)
{
    say("{\"call\": ");
    say_text(struck.call);
    say(", \"what\": ");
    say_text(struck.what);
    say(", \"stack\": ");
    say_frames(struck.frames, struck.frame_count);
    say("}");
}

static void write_report(void)
{
    const int fd = report_path[0] ? (int)syscall(SYS_openat, AT_FDCWD, report_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    syscall(SYS_write, fd, report_text, report_length);
    syscall(SYS_close, fd);
}

/* --- whether it fails ------------------------------------------------------------------------------------------------------------ */

static struct { /* shared with children */
    long counts[SHIM_CLASS_COUNT];
} * shared;
static int trace_file = -1;
static int wanted_class = -1;
static long wanted_number;

/* Writes down which call this is: "class stack", both as text, the stack as a hash of the program's own return addresses. */
static void trace(shim_class class)
{
    void *frames[32];
    char line[64];
    uint64_t hash = 0xcbf29ce484222325u;
    const int count = backtrace(frames, (int)COUNT(frames));
    for (int i = 0; i < count; i++) {
        const range *r = range_of(frames[i]);
        hash = (hash ^ (r ? (uintptr_t)frames[i] - r->base : 0)) * 0x100000001b3u;
    }
    const int length = snprintf(line, sizeof line, "%s %016llx\n", class_names[class], (unsigned long long)hash);
    syscall(SYS_write, trace_file, line, (size_t)length);
}

bool shim_strikes(shim_class class, const void *caller, const char *call, const char *what)
{
    if (!shim_watches(caller) || !shared)
        return false;
    if (trace_file >= 0)
        trace(class);
    const long number = __atomic_add_fetch(&shared->counts[class], 1, __ATOMIC_RELAXED);
    if (wanted_class != (int)class || number != wanted_number)
        return false;
    snprintf(struck.call, sizeof struck.call, "%s", call);
    snprintf(struck.what, sizeof struck.what, "%s", what ? what : "");
    struck.frame_count = backtrace(struck.frames, FRAMES);
    report_length = 0;
    say("{\"is_child\": %s, \"struck\": ", getpid() == first_process ? "false" : "true");
    say_struck();
    say("}\n");
    write_report(); /* at once: a crash must not hide it */
    return true;
}

bool shim_strikes_file(shim_class class, const void *caller, const char *call, const char *what)
{
    static const int codes[SHIM_CLASS_COUNT] = {[SHIM_EIO] = EIO, [SHIM_ENOSPC] = ENOSPC, [SHIM_EINTR] = EINTR};
    if (!shim_strikes(class, caller, call, what))
        return false;
    errno = codes[class];
    return true;
}

/* --- the report ------------------------------------------------------------------------------------------------------------------- */

static void report(void)
{
    if (!report_path[0] || !shared)
        return;
    if (getpid() == first_process)
        shim_destructors_wait();
    report_length = 0;
    say("{\"is_child\": %s, \"calls\": {", getpid() == first_process ? "false" : "true");
    for (int i = 0; i < SHIM_CLASS_COUNT; i++)
        say("%s\"%s\": %ld", i ? ", " : "", class_names[i], shared->counts[i]);
    say("}");
    int counts[SHIM_KIND_COUNT] = {0};
    for (size_t i = 0; objects.used && i < (size_t)1 << TABLE_BITS; i++)
        if (objects.entries[i].key)
            counts[objects.entries[i].kind]++;
    for (int i = 0; i < SHIM_KIND_COUNT; i++)
        say(", \"%s\": %d", kind_names[i], counts[i]);
    say(", \"mappings\": %zu, \"blocks\": %zu, \"untracked\": %zu, \"stacks\": [", mappings.used, blocks.used, untracked);
    int shown = 0;
    for (size_t i = 0; blocks.used && shown < 8 && i < (size_t)1 << TABLE_BITS; i++) {
        if (!blocks.entries[i].key)
            continue;
        say("%s", shown++ ? ", " : "");
        say_frames(blocks.entries[i].frames, blocks.entries[i].frame_count);
    }
    say("]}\n");
    write_report();
    report_path[0] = '\0'; /* once */
}

void _exit(int status)
{
    report();
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((destructor)) static void end(void)
{
    report();
}

/* A child answers for what it makes itself. */
static void forget_tables(void)
{
    pthread_mutex_init(&lock, NULL);
    table *const all[] = {&blocks, &mappings, &objects};
    for (size_t i = 0; i < COUNT(all); i++) {
        syscall(SYS_madvise, all[i]->entries, sizeof(entry) << TABLE_BITS, MADV_DONTNEED); /* zeros again */
        all[i]->used = 0;
    }
    memset(&struck, 0, sizeof struck);
}

static void *pages(size_t size, int sharing)
{
    void *memory = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

/* A driver starts other programs, its linker for one: only the program that began the run, and itself started again, has faults. */
static bool is_other_program(void)
{
    static const char variable[] = "CLF_FAULT_PROGRAM";
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    const char *first = getenv(variable);
    path[length > 0 ? length : 0] = '\0';
    if (!first)
        setenv(variable, path, 1);
    return first && strcmp(first, path) != 0;
}

__attribute__((constructor)) static void start(void)
{
    const char *fault = getenv("CLF_FAULT"), *path = getenv("CLF_FAULT_REPORT"), *trace_path = getenv("CLF_FAULT_TRACE");
    void *warm_up[1];
    bool is_first = true;
    if (is_other_program())
        fault = path = trace_path = NULL;
    if (path)
        snprintf(report_path, sizeof report_path, "%s", path);
    keeps_stacks = getenv("CLF_FAULT_STACKS") != NULL;
    for (int i = 0; fault && i < SHIM_CLASS_COUNT; i++) {
        const size_t length = strlen(class_names[i]);
        if (strncmp(fault, class_names[i], length) == 0 && fault[length] == ':') {
            wanted_class = i;
            wanted_number = atol(fault + length + 1);
        }
    }
    if (trace_path)
        trace_file = (int)syscall(SYS_openat, AT_FDCWD, trace_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    (void)backtrace(warm_up, 1); /* loads what it needs now */
    blocks.entries = pages(sizeof(entry) << TABLE_BITS, MAP_PRIVATE);
    mappings.entries = pages(sizeof(entry) << TABLE_BITS, MAP_PRIVATE);
    objects.entries = pages(sizeof(entry) << TABLE_BITS, MAP_PRIVATE);
    first_process = getpid();
    pthread_atfork(NULL, NULL, forget_tables);
    shared = pages(sizeof *shared, MAP_SHARED);
    dl_iterate_phdr(collect_ranges, &is_first);
}
