/* SPDX-License-Identifier: MIT */
/* Energy counters over a made-up sysfs and a made-up NVML: which one is taken, sums and wrap-around, and why nothing is measured. */
#include "bench/energy.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "support/check.h"
#include "support/temp.h"

static const clfi_energy_target cpu = {.is_cpu = true}, gpu = {.is_cpu = false}, card = {.pci_address = "0000:3b:00.0"};

/* Writes `text` to <root>/<path>, directories included. */
static void put(const char *path, const char *text)
{
    temp_file_below(temp_root, path, text, strlen(text));
}

static clfi_energy *energy_of(const clfi_energy_target *target, const char *nvml)
{
    clfi_energy *energy;
    CHECK_OK(clfi_energy_open(&(clfi_energy_source){temp_root, nvml}, target, &energy));
    return energy;
}

static void check_joules(clfi_energy *energy, double want)
{
    double joules;
    CHECK_OK(clfi_energy_read(energy, &joules));
    CHECK(within(joules, want, 1e-9), "%g J, want %g", joules, want);
}

static void check_none(const clfi_energy_target *target, const char *nvml, const char *part)
{
    clfi_energy *energy = energy_of(target, nvml);
    double joules;
    assert_string_equal(clfi_energy_method(energy), "not measured");
    CHECK(strstr(clfi_energy_reason(energy), part), "reason \"%s\" lacks \"%s\"", clfi_energy_reason(energy), part);
    CHECK_FAILS(clfi_energy_read(energy, &joules), CLF_UNSUPPORTED, part);
    clfi_energy_close(energy);
}

static void put_package(int index, const char *energy)
{
    char path[128], text[32];
    snprintf(path, sizeof path, "class/powercap/intel-rapl:%d/name", index);
    snprintf(text, sizeof text, "package-%d\n", index);
    put(path, text);
    snprintf(path, sizeof path, "class/powercap/intel-rapl:%d/max_energy_range_uj", index);
    put(path, "10000000\n");
    snprintf(path, sizeof path, "class/powercap/intel-rapl:%d/energy_uj", index);
    put(path, energy);
}

/* Two packages add up; core and psys zones do not count; the first package passes its end. */
static void rapl(void **state)
{
    (void)state;
    put_package(0, "9000000\n");
    put_package(1, "2000000\n");
    put("class/powercap/intel-rapl:0:0/name", "core\n");
    put("class/powercap/intel-rapl:0:0/energy_uj", "1\n");
    put("class/powercap/intel-rapl:2/name", "psys\n");
    put("class/powercap/intel-rapl:2/energy_uj", "1\n");
    put("class/powercap/intel-rapl:2/max_energy_range_uj", "10000000\n");
    clfi_energy *energy = energy_of(&cpu, "none.so");
    assert_string_equal(clfi_energy_method(energy), "RAPL package");
    assert_string_equal(clfi_energy_reason(energy), "");
    check_joules(energy, 0);
    put_package(0, "500000\n"); /* 1 J to the end, 0.5 J from zero */
    put_package(1, "2250000\n");
    put("class/powercap/intel-rapl:0:0/energy_uj", "900000\n");
    put("class/powercap/intel-rapl:2/energy_uj", "900000\n");
    check_joules(energy, 1.75);
    put_package(0, "600000\n");
    check_joules(energy, 1.85);
    put_package(1, "broken\n");
    double joules;
    CHECK_FAILS(clfi_energy_read(energy, &joules), CLF_FORMAT, "broken");
    clfi_energy_close(energy);
}

static void rapl_missing(void **state)
{
    (void)state;
    check_none(&cpu, "none.so", "RAPL: no directory");
    put("class/powercap/intel-rapl:0/name", "psys\n");
    check_none(&cpu, "none.so", "RAPL: no package zone");
    put("class/powercap/intel-rapl:1/name", "package-0\n");
    put("class/powercap/intel-rapl:1/max_energy_range_uj", "10\n");
    check_none(&cpu, "none.so", "energy_uj"); /* not there, as it is unreadable for most users */
}

static void hwmon_cpu(void **state)
{
    (void)state;
    put("class/hwmon/hwmon0/name", "coretemp\n");
    put("class/hwmon/hwmon0/energy1_input", "77\n");
    put("class/hwmon/hwmon1/name", "amd_energy\n");
    put("class/hwmon/hwmon1/energy1_label", "Ecore000\n");
    put("class/hwmon/hwmon1/energy1_input", "1000000\n");
    put("class/hwmon/hwmon1/energy2_label", "Esocket0\n");
    put("class/hwmon/hwmon1/energy2_input", "5000000\n");
    clfi_energy *energy = energy_of(&cpu, "none.so");
    assert_string_equal(clfi_energy_method(energy), "hwmon");
    put("class/hwmon/hwmon1/energy1_input", "3000000\n");
    put("class/hwmon/hwmon1/energy2_input", "8500000\n");
    check_joules(energy, 3.5);
    put("class/hwmon/hwmon1/energy2_input", "4\n");
    double joules;
    CHECK_FAILS(clfi_energy_read(energy, &joules), CLF_IO, "went back");
    clfi_energy_close(energy);
}

/* hwmon<index>/device points to a directory named by the PCI address. */
static void put_card(int index, const char *address, const char *energy)
{
    char path[128], target[TEMP_PATH_BYTES * 2], link[TEMP_PATH_BYTES * 2];
    snprintf(path, sizeof path, "class/hwmon/hwmon%d/name", index);
    put(path, "i915\n");
    snprintf(path, sizeof path, "class/hwmon/hwmon%d/energy1_input", index);
    put(path, energy);
    snprintf(path, sizeof path, "devices/%s/vendor", address);
    put(path, "0x8086\n");
    snprintf(target, sizeof target, "%s/devices/%s", temp_root, address);
    snprintf(link, sizeof link, "%s/class/hwmon/hwmon%d/device", temp_root, index);
    unlink(link);
    assert_int_equal(symlink(target, link), 0);
}

static void hwmon_cards(void **state)
{
    (void)state;
    check_none(&gpu, "none.so", "none.so is not installed; hwmon: no directory");
    put_card(3, "0000:03:00.0", "1000\n");
    check_none(&card, "none.so", "no sensor of the device");
    clfi_energy *energy = energy_of(&gpu, "none.so"); /* the only card */
    assert_string_equal(clfi_energy_method(energy), "hwmon");
    put_card(3, "0000:03:00.0", "2001000\n");
    check_joules(energy, 2);
    clfi_energy_close(energy);
    put_card(4, "0000:3b:00.0", "500\n");
    check_none(&gpu, "none.so", "2 cards");
    energy = energy_of(&card, "none.so");
    put_card(3, "0000:03:00.0", "9001000\n");
    put_card(4, "0000:3b:00.0", "1000500\n");
    check_joules(energy, 1);
    clfi_energy_close(energy);
}

/* A driver that gives power but no energy. */
static void hwmon_power_only(void **state)
{
    (void)state;
    put("class/hwmon/hwmon0/name", "amdgpu\n");
    put("class/hwmon/hwmon0/power1_average", "15000000\n");
    check_none(&gpu, "none.so", "do not count energy");
}

static void nvml(void **state)
{
    (void)state;
    static const clfi_energy_target other = {.pci_address = "0000:41:00.0"};
    clfi_energy *energy = energy_of(&gpu, CLF_TEST_FAKE_NVML);
    assert_string_equal(clfi_energy_method(energy), "NVML");
    check_joules(energy, 0.25);
    check_joules(energy, 0.5);
    setenv("FAKE_NVML_NO_ENERGY", "1", 1);
    double joules;
    CHECK_FAILS(clfi_energy_read(energy, &joules), CLF_IO, "Not Supported");
    clfi_energy_close(energy);
    check_none(&gpu, CLF_TEST_FAKE_NVML, "NVML: total energy: Not Supported");
    unsetenv("FAKE_NVML_NO_ENERGY");
    energy = energy_of(&card, CLF_TEST_FAKE_NVML);
    assert_string_equal(clfi_energy_method(energy), "NVML");
    clfi_energy_close(energy);
    check_none(&other, CLF_TEST_FAKE_NVML, "card 0000:41:00.0: Not Found");
    setenv("FAKE_NVML_CARDS", "2", 1);
    check_none(&gpu, CLF_TEST_FAKE_NVML, "2 cards");
    unsetenv("FAKE_NVML_CARDS");
}

/* This machine, whatever it has: joules never fall, or a reason is given. */
static void this_machine(void **state)
{
    (void)state;
    clfi_energy *energy;
    double first, second;
    CHECK_OK(clfi_energy_open(&clfi_energy_system, &cpu, &energy));
    if (strcmp(clfi_energy_method(energy), "not measured") == 0) {
        assert_true(strlen(clfi_energy_reason(energy)) > 0);
    } else {
        CHECK_OK(clfi_energy_read(energy, &first));
        CHECK_OK(clfi_energy_read(energy, &second));
        assert_true(first >= 0 && second >= first);
    }
    clfi_energy_close(energy);
    clfi_energy_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rapl, temp_setup, temp_teardown),
        cmocka_unit_test_setup_teardown(rapl_missing, temp_setup, temp_teardown),
        cmocka_unit_test_setup_teardown(hwmon_cpu, temp_setup, temp_teardown),
        cmocka_unit_test_setup_teardown(hwmon_cards, temp_setup, temp_teardown),
        cmocka_unit_test_setup_teardown(hwmon_power_only, temp_setup, temp_teardown),
        cmocka_unit_test_setup_teardown(nvml, temp_setup, temp_teardown),
        cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
