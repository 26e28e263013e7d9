/* SPDX-License-Identifier: MIT */
/* Reads the environment variables that mpirun sets. */
#include "process/mpirun.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/status.h"

enum { WAIT_SECONDS = 10, REFUSED = 2 };

/* Reads the first of two variables that is set: Open MPI's, then that of MPICH and its derivatives. */
static long number(const char *const names[2], long otherwise)
{
    for (size_t i = 0; i < 2; i++)
        if (getenv(names[i]))
            return strtol(getenv(names[i]), NULL, 10);
    return otherwise;
}

long cli_mpirun_size(void)
{
    return number((const char *const[2]){"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1);
}

long cli_mpirun_local_rank(void)
{
    return number((const char *const[2]){"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}, 0);
}

void cli_mpirun_let_first_speak(void)
{
    const bool is_first = number((const char *const[2]){"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0) == 0;
    if (cli_mpirun_size() > 1 && !is_first && sleep(WAIT_SECONDS) > 0)
        _exit(REFUSED); /* a signal that the command handles ended the wait: mpirun ends this process */
}
