/* SPDX-License-Identifier: Apache-2.0 */
/* Calls libmpinames.so's functions. `mpi_names N`: each N times. */
#include <stdio.h>
#include <stdlib.h>

#include "mpinames.h"

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < times; i++) {
#define CALL(name) name(argv);
		FORTRAN_NAMES(CALL)
		OTHER_NAMES(CALL)
		MPI_Send(argv);
		MPI_Send_c(argv);
	}
	printf("%d\n", MPI_Send(NULL));
	return 0;
}
