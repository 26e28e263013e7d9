/* SPDX-License-Identifier: MIT */
/* Gives PoCL what it needs from the process around it: a folder for its kernels. Checks whether there is a linker. */
#ifndef CLFI_RUNTIME_POCL_H
#define CLFI_RUNTIME_POCL_H

#define CLFI_POCL_PLATFORM "Portable Computing Language"

/* Before the first OpenCL call. Keeps PoCL's threads on their processors (POCL_AFFINITY). Where neither XDG_CACHE_HOME nor HOME has a place
 * for compiled kernels, without which PoCL shows no devices, POCL_CACHE_DIR becomes clformer-UID/pocl in TMPDIR or /tmp, a folder that only
 * this user may write to. Variables that are set stay. */
void clfi_pocl_prepare(void);

/* Why PoCL shows no devices: where its kernels cannot be kept; "" where that is not the reason. */
const char *clfi_pocl_cache_trouble(void);

/* Why its devices would end the process at the first kernel; "" otherwise. PoCL links each kernel by clang's driver, which runs ld, and
 * aborts where it cannot. */
const char *clfi_pocl_link_trouble(void);

#endif
