/* SPDX-License-Identifier: MIT */
/* CLBlast's tuning parameters: names and constraints. */
#include "kernel/gemm_clblast.h"

#include <string.h>

const clf_clblast_kernel clfi_clblast_kernels[CLFI_CLBLAST_KERNELS] = {
    [CLFI_CLBLAST_XGEMM] = {"Xgemm",
                            16,
                            {"GEMMK", "KREG", "KWG", "KWI", "MDIMA", "MDIMC", "MWG", "NDIMB", "NDIMC", "NWG", "SA", "SB", "STRM", "STRN",
                             "VWM", "VWN"}},
    [CLFI_CLBLAST_XGEMM_DIRECT] = {"XgemmDirect",
                                   10,
                                   {"KWID", "MDIMAD", "MDIMCD", "NDIMBD", "NDIMCD", "PADA", "PADB", "VWMD", "VWND", "WGD"}},
    [CLFI_CLBLAST_ROUTINE] = {"GemmRoutine", 1, {"XGEMM_MIN_INDIRECT_SIZE"}},
};

bool clfi_clblast_is_any(const clf_clblast_parameters *parameters)
{
    bool is_any = false;
    for (int i = 0; i < CLFI_CLBLAST_KERNELS; i++)
        is_any = is_any || parameters->is_set[i];
    return is_any;
}

bool clfi_clblast_is_same(const clf_clblast_parameters *a, const clf_clblast_parameters *b)
{
    return memcmp(a->is_set, b->is_set, sizeof a->is_set) == 0 && memcmp(a->value, b->value, sizeof a->value) == 0;
}

static bool is_power(size_t value, size_t least, size_t most)
{
    return value >= least && value <= most && (value & (value - 1)) == 0;
}

static bool divides(size_t part, size_t whole)
{
    return part > 0 && whole >= part && whole % part == 0;
}

/* The kernel with local memory (GEMMK 0): tiles of MWG x NWG in slices of KWG, by MDIMC x NDIMC work-items that load as MDIMA x .. and
 * NDIMB x .. . */
static bool xgemm_fits(const clf_context *context, const size_t *v)
{
    const size_t kreg = v[1], kwg = v[2], kwi = v[3], mdima = v[4], mdimc = v[5], mwg = v[6], ndimb = v[7], ndimc = v[8], nwg = v[9];
    const size_t sa = v[10], sb = v[11], strm = v[12], strn = v[13], vwm = v[14], vwn = v[15];
    if (v[0] != 0 || kreg != 1 || sa > 1 || sb > 1 || strm > 1 || strn > 1 || !is_power(mwg, 8, 256) || !is_power(nwg, 8, 256) ||
        !is_power(kwg, 8, 64) || !is_power(kwi, 1, 16) || !is_power(mdimc, 4, 64) || !is_power(ndimc, 4, 64) || !is_power(mdima, 4, 64) ||
        !is_power(ndimb, 4, 64) || !is_power(vwm, 1, 8) || !is_power(vwn, 1, 8))
        return false;
    const size_t items = mdimc * ndimc, local_floats = sa * kwg * mwg + sb * kwg * nwg;
    return divides(kwi, kwg) && divides(mdimc * vwm, mwg) && divides(ndimc * vwn, nwg) && divides(mdima * vwm, mwg) &&
           divides(ndimb * vwn, nwg) && divides(mdima, items) && divides(ndimb, items) && divides(items / mdima, kwg) &&
           divides(items / ndimb, kwg) && items <= context->device.caps.max_work_group_size &&
           local_floats * sizeof(float) <= context->device.caps.local_memory_bytes;
}

/* Square tiles of WGD, read in place by MDIMCD x NDIMCD work-items. */
static bool direct_fits(const clf_context *context, const size_t *v)
{
    const size_t kwid = v[0], mdimad = v[1], mdimcd = v[2], ndimbd = v[3], ndimcd = v[4], pada = v[5], padb = v[6], vwmd = v[7],
                 vwnd = v[8], wgd = v[9];
    if (!is_power(wgd, 8, 64) || !is_power(kwid, 1, 16) || !is_power(mdimad, 4, 64) || !is_power(mdimcd, 4, 64) ||
        !is_power(ndimbd, 4, 64) || !is_power(ndimcd, 4, 64) || pada > 1 || padb > 1 || !is_power(vwmd, 1, 8) || !is_power(vwnd, 1, 8))
        return false;
    const size_t items = mdimcd * ndimcd, local_floats = wgd * (wgd + pada) + wgd * (wgd + padb);
    return divides(kwid, wgd) && divides(mdimcd * vwmd, wgd) && divides(ndimcd * vwnd, wgd) && divides(mdimad * vwmd, wgd) &&
           divides(ndimbd * vwnd, wgd) && divides(mdimad, items) && divides(ndimbd, items) && divides(items / mdimad, wgd) &&
           divides(items / ndimbd, wgd) && items <= context->device.caps.max_work_group_size &&
           local_floats * sizeof(float) <= context->device.caps.local_memory_bytes;
}

clf_status clfi_clblast_check(const clf_context *context, const clf_clblast_parameters *p)
{
    const bool fits[CLFI_CLBLAST_KERNELS] = {
        [CLFI_CLBLAST_XGEMM] = xgemm_fits(context, p->value[CLFI_CLBLAST_XGEMM]),
        [CLFI_CLBLAST_XGEMM_DIRECT] = direct_fits(context, p->value[CLFI_CLBLAST_XGEMM_DIRECT]),
        [CLFI_CLBLAST_ROUTINE] = p->value[CLFI_CLBLAST_ROUTINE][0] >= 1 && p->value[CLFI_CLBLAST_ROUTINE][0] <= 1 << 16,
    };
    for (int i = 0; i < CLFI_CLBLAST_KERNELS; i++)
        if (p->is_set[i] && !fits[i])
            CLF_FAIL(CLF_UNSUPPORTED, "CLBlast's %s: parameters that do not go together on %s", clfi_clblast_kernels[i].name,
                     context->device.info.name);
    return CLF_OK;
}
