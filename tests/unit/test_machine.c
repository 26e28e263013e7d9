/* SPDX-License-Identifier: MIT */
/* Tests a record's facts about the host and the library, with made-up system files and on this machine. */
#include "bench/machine.h"
#include "process/resident.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "clformer/context.h"
#include "support/check.h"
#include "support/temp.h"

static void put(const char *path, const char *text, size_t size)
{
    temp_file_below(temp_root, path, text, size);
}

#define PUT(path, text) put(path, text, sizeof(text) - 1)

static json_t *host_of(const char *directory)
{
    json_t *host;
    CHECK_OK(clfi_machine_host(directory, &host));
    return host;
}

static void check_text(json_t *object, const char *key, const char *want)
{
    const char *got = json_string_value(json_object_get(object, key));
    CHECK(got && strcmp(got, want) == 0, "%s: \"%s\", want \"%s\"", key, got ? got : "(none)", want);
}

static void x86_host(void **state)
{
    (void)state;
    PUT("proc/cpuinfo", "processor\t: 0\nvendor_id\t: Some\nmodel\t\t: 17\nmodel name\t: Some CPU 9000 @ 3.0GHz\n\nprocessor\t: 1\n");
    PUT("proc/meminfo", "MemTotal:       24644076 kB\nMemFree:        1 kB\n");
    PUT("etc/os-release", "NAME=\"Some\"\nVERSION_ID='12'\nPRETTY_NAME=\"Some OS 12 (name)\"\n");
    json_t *host = host_of(temp_root);
    check_text(host, "cpu", "Some CPU 9000 @ 3.0GHz");
    check_text(host, "os", "Some OS 12 (name)");
    assert_int_equal(json_integer_value(json_object_get(host, "memory_bytes")), INT64_C(24644076) * 1024);
    assert_true(json_integer_value(json_object_get(host, "logical_cores")) >= 1);
    json_decref(host);
}

/* No model name in /proc/cpuinfo, but in the device tree, with the NUL that ends it there; no newline at the end of a file. */
static void arm_host(void **state)
{
    (void)state;
    PUT("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 108.00\nCPU implementer\t: 0x41");
    PUT("sys/firmware/devicetree/base/model", "Some Board 5\0");
    PUT("etc/os-release", "PRETTY_NAME=Plain");
    json_t *host = host_of(temp_root);
    check_text(host, "cpu", "Some Board 5");
    check_text(host, "os", "Plain");
    assert_int_equal(json_integer_value(json_object_get(host, "memory_bytes")), 0);
    json_decref(host);
}

/* Nothing there, then nothing that makes sense: no failure, and still JSON. */
static void strange_host(void **state)
{
    (void)state;
    json_t *host = host_of(temp_root);
    check_text(host, "cpu", "unknown");
    json_decref(host);
    PUT("proc/cpuinfo", "model name\t: \xff\xfe\n");
    PUT("proc/meminfo", "MemTotal: 99999999999999999999999 kB\n");
    PUT("etc/os-release", "PRETTY_NAME=\"\"\nPRETTY_NAME");
    host = host_of(temp_root);
    check_text(host, "cpu", "unknown");
    assert_int_equal(json_integer_value(json_object_get(host, "memory_bytes")), 0);
    assert_true(strlen(json_string_value(json_object_get(host, "os"))) > 0);
    json_decref(host);
}

static void this_machine(void **state)
{
    (void)state;
    json_t *host = host_of(""), *library;
    assert_true(json_integer_value(json_object_get(host, "memory_bytes")) > 1 << 20);
    assert_true(strlen(json_string_value(json_object_get(host, "kernel"))) > 0);
    json_decref(host);
    CHECK_OK(clfi_machine_library(&library));
    check_text(library, "version", clf_version());
    const char *commit = json_string_value(json_object_get(library, "commit"));
    if (strcmp(commit, "unknown") != 0) {
        const size_t digits = strspn(commit, "0123456789abcdef");
        CHECK(digits >= 7 && (commit[digits] == '\0' || strcmp(commit + digits, "-dirty") == 0), "commit \"%s\"", commit);
    }
    const char *clblast = json_string_value(json_object_get(library, "clblast"));
    CHECK(strcmp(clblast, "unknown") == 0 || isdigit((unsigned char)clblast[0]), "CLBlast \"%s\"", clblast);
    json_decref(library);
}

/* The peak grows with memory that is touched, and stays when it is given back. */
static void peak_memory(void **state)
{
    (void)state;
    enum { MORE = 64 << 20 };
    const size_t before = clfi_resident_peak_bytes();
    assert_true(before > 0);
    unsigned char *memory = malloc(before + MORE);
    assert_non_null(memory);
    memset(memory, 1, before + MORE);
    const volatile unsigned char *touched = memory;
    assert_int_equal(touched[MORE], 1);
    free(memory);
    assert_true(clfi_resident_peak_bytes() >= before + MORE / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(x86_host, temp_setup, temp_teardown),
        cmocka_unit_test_setup_teardown(arm_host, temp_setup, temp_teardown),
        cmocka_unit_test_setup_teardown(strange_host, temp_setup, temp_teardown),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(peak_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
