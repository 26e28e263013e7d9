/* SPDX-License-Identifier: MIT */
/* Opens the first energy counter that works for a target. */
#include "bench/energy.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "bench/energy_counter.h"

struct clfi_energy {
    clfi_energy_counter counter; /* method NULL: no counter works, so energy is not measured */
    clf_str reason;
};

const clfi_energy_source clfi_energy_system = {"/sys", "libnvidia-ml.so.1"};

/* Appends the failure of a counter to the reason why energy is not measured, so that the caller can try the next counter. Returns
 * OUT_OF_MEMORY at once. */
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
