/* SPDX-License-Identifier: MIT */
/* Reads from the environment which of mpirun's processes this one is. MPI itself would take half a second to return this. */
#ifndef CLFI_PROCESS_MPIRUN_H
#define CLFI_PROCESS_MPIRUN_H

/* The number of processes that mpirun started; 1 without mpirun. */
long cli_mpirun_size(void);

/* The number of this process among those on its machine, from 0; 0 without mpirun. */
long cli_mpirun_local_rank(void);

/* Lets only the first of several processes report a wrong command line. Each other process waits here: when the first one exits with an
 * error, mpirun sends the others a signal. If the command handles that signal, the function ends the process itself, with status 2. It
 * returns at once in the first process, and after 10 s without a signal, because then the first one has accepted the command line. */
void cli_mpirun_let_first_speak(void);

#endif
