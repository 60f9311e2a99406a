/* SPDX-License-Identifier: Apache-2.0 */
#include "mpinames.h"

static int sent;

int MPI_Send(const void *buffer)
{
	return buffer ? ++sent : sent;
}

int MPI_Send_c(const void *buffer)
{
	return MPI_Send(buffer);
}

#define DEFINE(name)                                                                                                   \
	int name(const void *buffer)                                                                                   \
	{                                                                                                              \
		return MPI_Send(buffer) + 1;                                                                           \
	}
FORTRAN_NAMES(DEFINE)

#define DEFINE_OTHER(name)                                                                                             \
	int name(const void *buffer)                                                                                   \
	{                                                                                                              \
		return !buffer;                                                                                        \
	}
OTHER_NAMES(DEFINE_OTHER)
