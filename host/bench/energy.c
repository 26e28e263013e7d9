/* SPDX-License-Identifier: MIT */
/* Energy: tries the counters that suit a target, in order. */
#include "bench/energy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "bench/energy_counter.h"

enum { MAX_LINE_BYTES = 4096 };

struct clfi_energy {
    clfi_energy_counter counter; /* method NULL: not measured */
    clf_str reason;
};

const clfi_energy_source clfi_energy_system = {"/sys", "libnvidia-ml.so.1"};

clf_status clfi_energy_file_line(const char *path, clf_str *out)
{
    clfi_str_clear(out);
    CLF_TRY(clfi_file_read(path, MAX_LINE_BYTES, out));
    out->length = strcspn(clfi_str_text(out), "\n");
    if (out->data)
        out->data[out->length] = '\0';
    return CLF_OK;
}

clf_status clfi_energy_file_u64(const char *path, uint64_t *out)
{
    clf_str line = CLF_STR_INIT;
    char rest;
    clf_status st = clfi_energy_file_line(path, &line);
    const char *text = clfi_str_text(&line);
    if (st == CLF_OK && (text[0] < '0' || text[0] > '9' || sscanf(text, "%" SCNu64 "%c", out, &rest) != 1))
        st = clfi_fail(CLF_FORMAT, "%s: expected a whole number, found \"%s\"", path, text);
    clfi_str_free(&line);
    return st;
}

/* Keeps the reason of a counter that is not there; anything but memory that ran out lets the next one be tried. */
static clf_status note(clfi_energy *energy, clf_status failure)
{
    if (failure == CLF_OUT_OF_MEMORY)
        return failure;
    return clfi_str_appendf(&energy->reason, "%s%s", energy->reason.length ? "; " : "", clf_last_error());
}

static clf_status open_counter(const clfi_energy_source *source, const clfi_energy_target *target, clfi_energy *energy)
{
    clf_status st = target->is_cpu ? clfi_energy_rapl_open(source->sysfs, &energy->counter)
                                   : clfi_energy_nvml_open(source->nvml, target, &energy->counter);
    if (st == CLF_OK)
        return CLF_OK;
    CLF_TRY(note(energy, st));
    st = clfi_energy_hwmon_open(source->sysfs, target, &energy->counter);
    if (st != CLF_OK)
        return note(energy, st);
    clfi_str_clear(&energy->reason);
    return CLF_OK;
}

clf_status clfi_energy_open(const clfi_energy_source *source, const clfi_energy_target *target, clfi_energy **out)
{
    clfi_energy *energy;
    CLF_TRY(clfi_alloc(1, sizeof *energy, "energy", &energy));
    const clf_status st = open_counter(source, target, energy);
    if (st != CLF_OK) {
        clfi_energy_close(energy);
        return st;
    }
    *out = energy;
    return CLF_OK;
}

void clfi_energy_close(clfi_energy *energy)
{
    if (!energy)
        return;
    if (energy->counter.method)
        energy->counter.close(energy->counter.state);
    clfi_str_free(&energy->reason);
    free(energy);
}

const char *clfi_energy_method(const clfi_energy *energy)
{
    return energy->counter.method ? energy->counter.method : "not measured";
}

const char *clfi_energy_reason(const clfi_energy *energy)
{
    return clfi_str_text(&energy->reason);
}

clf_status clfi_energy_read(clfi_energy *energy, double *joules)
{
    if (!energy->counter.method)
        CLF_FAIL(CLF_UNSUPPORTED, "energy is not measured: %s", clfi_str_text(&energy->reason));
    return energy->counter.read(energy->counter.state, joules);
}
