/* SPDX-License-Identifier: MIT */
/* Describes the host and the library for a result file. */
#include "bench/machine.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "bench/commit.h"
#include "clformer/context.h"

enum { MAX_FILE_BYTES = 16 << 20, NAME_BYTES = 256 };

/* Reads the value of the first line "key <separator> value" of a file, without quotes and blanks around it. false: no such file or line. */
static bool file_value(const char *root, const char *path, const char *key, char separator, char out[NAME_BYTES])
{
    clf_str full = CLF_STR_INIT, text = CLF_STR_INIT;
    bool found = clfi_str_appendf(&full, "%s%s", root, path) == CLF_OK && clfi_file_read(full.data, MAX_FILE_BYTES, &text) == CLF_OK;
    const char *line = found ? clfi_str_text(&text) : "";
    const size_t length = strlen(key);
    for (found = false; *line && !found; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t size = strcspn(line, "\n");
        const size_t before = length + strspn(line + (size < length ? size : length), " \t");
        if (size <= length || strncmp(line, key, length) != 0 || line[before] != separator)
            continue;
        const char *value = line + before + 1, *end = line + size;
        while (value < end && strchr(" \t\"'", *value))
            value++;
        while (end > value && strchr(" \t\r\"'", end[-1]))
            end--;
        found = end > value;
        snprintf(out, NAME_BYTES, "%.*s", (int)(end - value), value);
    }
    clfi_str_free(&full);
    clfi_str_free(&text);
    return found;
}

/* Reads a small file up to the first NUL or newline; false: no such file, or it is empty. */
static bool file_line(const char *root, const char *path, char out[NAME_BYTES])
{
    clf_str full = CLF_STR_INIT, text = CLF_STR_INIT;
    const bool found = clfi_str_appendf(&full, "%s%s", root, path) == CLF_OK && clfi_file_read(full.data, MAX_FILE_BYTES, &text) == CLF_OK;
    snprintf(out, NAME_BYTES, "%.*s", (int)strcspn(clfi_str_text(&text), "\n"), clfi_str_text(&text));
    clfi_str_free(&full);
    clfi_str_free(&text);
    return found && out[0];
}

/* x86 and POWER name the model in /proc/cpuinfo; on many ARM boards only the device tree does. */
static void cpu_name(const char *root, char out[NAME_BYTES])
{
    static const char *const keys[] = {"model name", "Model", "cpu model", "Hardware", "cpu"};
    for (size_t i = 0; i < COUNT(keys); i++)
        if (file_value(root, "/proc/cpuinfo", keys[i], ':', out))
            return;
    if (!file_line(root, "/sys/firmware/devicetree/base/model", out))
        snprintf(out, NAME_BYTES, "unknown");
}

static json_int_t memory_bytes(const char *root)
{
    char text[NAME_BYTES];
    unsigned long long kibibytes = 0;
    if (!file_value(root, "/proc/meminfo", "MemTotal", ':', text) || sscanf(text, "%llu kB", &kibibytes) != 1 ||
        kibibytes > INT64_MAX / 1024)
        return 0;
    return (json_int_t)(kibibytes * 1024);
}

/* A JSON string of a text from outside; "unknown" if it is not valid UTF-8. */
static json_t *safe_string(const char *text)
{
    json_t *string = json_string(text);
    return string ? string : json_string("unknown");
}

clf_status clfi_machine_host(const char *root, json_t **out)
{
    char cpu[NAME_BYTES], os[NAME_BYTES];
    struct utsname names;
    const bool has_names = uname(&names) == 0;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_name(root, cpu);
    if (!file_value(root, "/etc/os-release", "PRETTY_NAME", '=', os))
        snprintf(os, sizeof os, "%.*s", NAME_BYTES - 1, has_names ? names.sysname : "unknown");
    json_t *host = json_pack("{s:o, s:s, s:I, s:I, s:o, s:s}", "cpu", safe_string(cpu), "architecture",
                             has_names ? names.machine : "unknown", "logical_cores", (json_int_t)(cores > 0 ? cores : 0), "memory_bytes",
                             memory_bytes(root), "os", safe_string(os), "kernel", has_names ? names.release : "unknown");
    if (!host)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "record of the host: not enough memory");
    *out = host;
    return CLF_OK;
}

/* Takes the version from the file name of the loaded library, "libclblast.so.1.5.3", else the one found at build time. A static CLBlast
 * has no file of its own. */
static void clblast_version(char out[NAME_BYTES])
{
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "CLBlastSgemm");
    char *path = symbol && dladdr(symbol, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
    const char *version = path ? strstr(path, "clblast.so.") : NULL;
    if (version && strchr(version + 11, '.'))
        snprintf(out, NAME_BYTES, "%s", version + 11);
    else
        snprintf(out, NAME_BYTES, "%s", CLFI_CLBLAST_VERSION[0] ? CLFI_CLBLAST_VERSION : "unknown");
    free(path);
}

clf_status clfi_machine_library(json_t **out)
{
    char clblast[NAME_BYTES];
    clblast_version(clblast);
    json_t *library = json_pack("{s:s, s:s, s:o}", "version", clf_version(), "commit", CLFI_COMMIT, "clblast", safe_string(clblast));
    if (!library)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "record of the library: not enough memory");
    *out = library;
    return CLF_OK;
}
