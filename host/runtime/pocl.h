/* SPDX-License-Identifier: MIT */
/* Prepares what PoCL needs from the process and the machine: a folder for its kernels, and a linker, which is only looked for. */
#ifndef CLFI_RUNTIME_POCL_H
#define CLFI_RUNTIME_POCL_H

#define CLFI_POCL_PLATFORM "Portable Computing Language"

/* Call it before the first OpenCL call. Keeps PoCL's threads on their processors (POCL_AFFINITY). PoCL shows no devices without a place for
 * compiled kernels. If neither XDG_CACHE_HOME nor HOME has one, POCL_CACHE_DIR becomes clformer-UID/pocl in TMPDIR or /tmp, a folder that
 * only this user may write to. Variables that are set stay, but a relative path in POCL_CACHE_DIR or OCL_ICD_VENDORS becomes absolute. */
void clfi_pocl_prepare(void);

/* Why PoCL's kernels cannot be kept, so that it shows no devices; "": they can. Static. */
const char *clfi_pocl_cache_trouble(void);

/* Why PoCL would end the process at its first kernel; "": it would not. PoCL links each kernel with clang's driver, which runs ld, and
 * aborts if that fails. Static. */
const char *clfi_pocl_link_trouble(void);

#endif
