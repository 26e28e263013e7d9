/* SPDX-License-Identifier: MIT */
/* Reads from the environment what mpirun gives its processes. MPI itself would take half a second to return it. */
#ifndef CLFI_PROCESS_MPIRUN_H
#define CLFI_PROCESS_MPIRUN_H

/* How many processes it started; 1 without mpirun. */
long cli_mpirun_size(void);

/* Which of those on its machine this process is, from 0. */
long cli_mpirun_local_rank(void);

/* In all but the first of several processes: waits until the end of the first one has made mpirun end this one, also where the command
 * handles the signal. Returns where nobody did, since the first one was not refused. */
void cli_mpirun_let_first_speak(void);

#endif
