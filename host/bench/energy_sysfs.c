/* SPDX-License-Identifier: MIT */
/* Reads energy counters in sysfs: RAPL (powercap) and hwmon. Both count microjoules (Linux, Documentation/power/powercap and
 * Documentation/hwmon/sysfs-interface). */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "bench/energy_counter.h"

enum { MAX_LINE_BYTES = 4096 };

/* Reads the first line of a file, without its newline, into `out`, which is cleared before. */
static clf_status read_line(const char *path, clf_str *out)
{
    clfi_str_clear(out);
    CLF_TRY(clfi_file_read(path, MAX_LINE_BYTES, out));
    out->length = strcspn(clfi_str_text(out), "\n");
    if (out->data)
        out->data[out->length] = '\0';
    return CLF_OK;
}

/* Reads a file that holds a decimal whole number. FORMAT: anything else. */
static clf_status read_u64(const char *path, uint64_t *out)
{
    clf_str line = CLF_STR_INIT;
    char rest;
    clf_status st = read_line(path, &line);
    const char *text = clfi_str_text(&line);
    if (st == CLF_OK && (text[0] < '0' || text[0] > '9' || sscanf(text, "%" SCNu64 "%c", out, &rest) != 1))
        st = clfi_fail(CLF_FORMAT, "%s: expected a whole number, found \"%s\"", path, text);
    clfi_str_free(&line);
    return st;
}

/* A file that counts upwards; the energy is the sum over all files. */
typedef struct counter_file {
    char *path;
    uint64_t last, range; /* range: value after which the counter wraps to 0; 0: never */
    double joules;        /* since the file was opened */
} counter_file;

typedef struct counters {
    counter_file *files;
    size_t count, capacity;
} counters;

static void counters_close(void *state)
{
    counters *c = state;
    for (size_t i = 0; i < c->count; i++)
        free(c->files[i].path);
    free(c->files);
    free(c);
}

static clf_status counters_read(void *state, double *joules)
{
    counters *c = state;
    double sum = 0;
    for (size_t i = 0; i < c->count; i++) {
        counter_file *file = &c->files[i];
        uint64_t now;
        CLF_TRY(read_u64(file->path, &now));
        if (now < file->last && file->range < file->last)
            CLF_FAIL(CLF_IO, "%s: the counter went back from %llu to %llu", file->path, (unsigned long long)file->last,
                     (unsigned long long)now);
        file->joules += (double)(now >= file->last ? now - file->last : now + (file->range - file->last)) * 1e-6;
        file->last = now;
        sum += file->joules;
    }
    *joules = sum;
    return CLF_OK;
}

/* Adds a file, if it can be read now. */
static clf_status counters_add(counters *c, const char *path, uint64_t range)
{
    uint64_t now;
    CLF_TRY(read_u64(path, &now));
    CLF_TRY(clfi_grow(&c->files, &c->capacity, c->count + 1, sizeof *c->files, "energy counters"));
    c->files[c->count] = (counter_file){.last = now, .range = range};
    CLF_TRY(clfi_strdup(path, &c->files[c->count].path));
    c->count++;
    return CLF_OK;
}

static clf_status give(counters *c, const char *method, clfi_energy_counter *out)
{
    *out = (clfi_energy_counter){.method = method, .read = counters_read, .close = counters_close, .state = c};
    return CLF_OK;
}

/* Adds one zone of RAPL if it is a package. Parts of a package ("core", "dram") and the whole machine ("psys") are skipped. */
static clf_status add_zone(const char *zone, clf_str *text, counters *c)
{
    uint64_t range = 0;
    clf_str path = CLF_STR_INIT;
    clf_status st = clfi_str_appendf(&path, "%s/name", zone);
    if (st == CLF_OK)
        st = read_line(path.data, text);
    if (st == CLF_OK && strncmp(clfi_str_text(text), "package-", 8) == 0) {
        clfi_str_clear(&path);
        CLF_GOTO(clfi_str_appendf(&path, "%s/max_energy_range_uj", zone));
        CLF_GOTO(read_u64(path.data, &range));
        clfi_str_clear(&path);
        CLF_GOTO(clfi_str_appendf(&path, "%s/energy_uj", zone));
        st = counters_add(c, path.data, range);
    }
done:
    clfi_str_free(&path);
    return st;
}

/* Called with the path of an entry of a directory. */
typedef clf_status (*visit_entry)(const char *path, void *user);

/* Calls visit for the entries of a directory that start with prefix. NOT_FOUND: no such directory. */
static clf_status for_entries(const char *directory, const char *prefix, visit_entry visit, void *user)
{
    DIR *entries = opendir(directory);
    clf_status st = CLF_OK;
    if (!entries)
        CLF_FAIL(CLF_NOT_FOUND, "no directory %s", directory);
    for (struct dirent *entry; st == CLF_OK && (entry = readdir(entries));) {
        char *path = NULL;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        st = clfi_path_join(directory, entry->d_name, &path);
        if (st == CLF_OK)
            st = visit(path, user);
        free(path);
    }
    closedir(entries);
    return st;
}

typedef struct search {
    counters *found;
    clf_str text;                     /* scratch */
    const clfi_energy_target *target; /* hwmon only */
    size_t devices;                   /* hwmon devices that gave a counter */
} search;

static clf_status visit_zone(const char *path, void *user)
{
    search *s = user;
    return add_zone(path, &s->text, s->found);
}

clf_status clfi_energy_rapl_open(const char *sysfs, clfi_energy_counter *out)
{
    clf_str directory = CLF_STR_INIT;
    search s = {.text = CLF_STR_INIT};
    clf_status st = clfi_alloc(1, sizeof *s.found, "energy counters", &s.found);
    if (st == CLF_OK)
        st = clfi_str_appendf(&directory, "%s/class/powercap", sysfs);
    if (st == CLF_OK)
        st = for_entries(directory.data, "intel-rapl:", visit_zone, &s);
    if (st == CLF_OK && s.found->count == 0)
        st = clfi_fail(CLF_NOT_FOUND, "no package zone in %s", directory.data);
    if (st == CLF_OK)
        st = give(s.found, "RAPL package", out);
    else
        st = clfi_fail_prefix(st == CLF_OUT_OF_MEMORY ? st : CLF_NOT_FOUND, "RAPL");
    if (st != CLF_OK && s.found)
        counters_close(s.found);
    clfi_str_free(&s.text);
    clfi_str_free(&directory);
    return st;
}

/* Whether this hwmon device is the target's: by PCI address where that is known, else by the driver's kind. */
static bool is_wanted(const char *path, const char *driver, const clfi_energy_target *target)
{
    static const char *const cpu_drivers[] = {"amd_energy"}, *const gpu_drivers[] = {"i915", "xe", "amdgpu"};
    const char *const *drivers = target->is_cpu ? cpu_drivers : gpu_drivers;
    bool is_kind = false;
    for (size_t i = 0; i < (target->is_cpu ? COUNT(cpu_drivers) : COUNT(gpu_drivers)); i++)
        is_kind |= strcmp(driver, drivers[i]) == 0;
    if (!is_kind || target->is_cpu || !target->pci_address[0])
        return is_kind;
    char *link = NULL, *device = NULL;
    if (clfi_path_join(path, "device", &link) == CLF_OK)
        device = realpath(link, NULL);
    const char *name = device ? strrchr(device, '/') : NULL;
    const bool is_same = name && strcmp(name + 1, target->pci_address) == 0;
    free(link);
    free(device);
    return is_same;
}

/* Adds a file of a hwmon device if it is a counter that covers the whole device. amd_energy counts cores and sockets, and the sockets
 * include the cores. A graphics card has the counter of the whole card first; a second counter may cover its chip alone. */
static clf_status add_hwmon_file(const char *path, void *user)
{
    search *s = user;
    const size_t length = strlen(path);
    if (length < 14 || strcmp(path + length - 6, "_input") != 0)
        return CLF_OK;
    if (!s->target->is_cpu)
        return strcmp(path + length - 14, "/energy1_input") == 0 ? counters_add(s->found, path, 0) : CLF_OK;
    clf_str label = CLF_STR_INIT;
    clf_status st = clfi_str_append(&label, path, length - 6);
    if (st == CLF_OK)
        st = clfi_str_append_text(&label, "_label");
    bool exists = false;
    clfi_str_clear(&s->text);
    if (st == CLF_OK)
        st = clfi_file_exists(label.data, &exists);
    if (st == CLF_OK && exists)
        st = read_line(label.data, &s->text);
    clfi_str_free(&label);
    CLF_TRY(st);
    return strncmp(clfi_str_text(&s->text), "Esocket", 7) == 0 ? counters_add(s->found, path, 0) : CLF_OK;
}

static clf_status visit_hwmon(const char *path, void *user)
{
    search *s = user;
    char *name = NULL;
    CLF_TRY(clfi_path_join(path, "name", &name));
    const clf_status st = read_line(name, &s->text);
    free(name);
    if (st != CLF_OK || !is_wanted(path, clfi_str_text(&s->text), s->target))
        return st == CLF_OUT_OF_MEMORY ? st : CLF_OK;
    s->devices++;
    return for_entries(path, "energy", add_hwmon_file, s);
}

clf_status clfi_energy_hwmon_open(const char *sysfs, const clfi_energy_target *target, clfi_energy_counter *out)
{
    clf_str directory = CLF_STR_INIT;
    search s = {.text = CLF_STR_INIT, .target = target};
    clf_status st = clfi_alloc(1, sizeof *s.found, "energy counters", &s.found);
    if (st == CLF_OK)
        st = clfi_str_appendf(&directory, "%s/class/hwmon", sysfs);
    if (st == CLF_OK)
        st = for_entries(directory.data, "hwmon", visit_hwmon, &s);
    if (st == CLF_OK && s.devices == 0)
        st = clfi_fail(CLF_NOT_FOUND, "no sensor of the device in %s", directory.data);
    if (st == CLF_OK && s.found->count == 0)
        st = clfi_fail(CLF_NOT_FOUND, "the device's sensors in %s do not count energy", directory.data);
    if (st == CLF_OK && s.devices > 1 && !target->is_cpu)
        st =
            clfi_fail(CLF_NOT_FOUND, "%zu cards in %s, and the driver does not say which of them is the device", s.devices, directory.data);
    if (st == CLF_OK)
        st = give(s.found, "hwmon", out);
    else
        st = clfi_fail_prefix(st == CLF_OUT_OF_MEMORY ? st : CLF_NOT_FOUND, "hwmon");
    if (st != CLF_OK && s.found)
        counters_close(s.found);
    clfi_str_free(&s.text);
    clfi_str_free(&directory);
    return st;
}
