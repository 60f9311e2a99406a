/* SPDX-License-Identifier: Apache-2.0 */
/* What the arguments of MPI's functions mean. */
#ifndef TPROF_HOOKS_OPS_PRESETS_MPI_CALLS_H
#define TPROF_HOOKS_OPS_PRESETS_MPI_CALLS_H

#include <tprof/comm.h>

#include "core/base.h"

/* Arguments are counted from 1, as the standard's pages list them; 0: there is none. */

/* How many bytes a buffer has. */
enum tpc_mpi_how {
	TPC_MPI_NO_DATA,
	TPC_MPI_ONE,	/* count times the type's size */
	TPC_MPI_EACH,	/* so much for each member */
	TPC_MPI_COUNTS, /* each member has its count, in an array */
	TPC_MPI_TYPES,	/* and its type */
	TPC_MPI_MINE,	/* of such counts this process's own */
	TPC_MPI_OUT,	/* so much for each neighbour that it sends to */
	TPC_MPI_IN,	/* that it receives from */
	TPC_MPI_OUT_COUNTS,
	TPC_MPI_IN_COUNTS,
	TPC_MPI_OUT_TYPES,
	TPC_MPI_IN_TYPES,
	TPC_MPI_ELEMENT, /* one element */
};

/* In which processes the arguments have a meaning. */
enum tpc_mpi_where { TPC_MPI_ALL, TPC_MPI_AT_ROOT, TPC_MPI_NOT_AT_ROOT };

struct tpc_mpi_data {
	uint8_t how, where;
	uint8_t count, type; /* arguments */
};

/* What it means that the first buffer is MPI_IN_PLACE (of SCATTER, that `place` is). */
enum tpc_mpi_in_place {
	TPC_MPI_PLACE_SAME,    /* the same count and type are the other buffer's, too */
	TPC_MPI_PLACE_NOTHING, /* what the root sends to itself does not count */
	TPC_MPI_PLACE_SHARE,   /* this process's share of the other buffer is sent */
	TPC_MPI_PLACE_OTHER,   /* as much as the other buffer has */
};

enum tpc_mpi_act {
	TPC_MPI_CALL,	 /* communicates with members of `comm` */
	TPC_MPI_MAKE,	 /* makes a communicator or window, to which argument `made` points */
	TPC_MPI_FREE,	 /* ends it */
	TPC_MPI_BEGIN,	 /* MPI_Init */
	TPC_MPI_END,	 /* MPI_Finalize */
	TPC_MPI_PROBE,	 /* `made` points to a message, if the call has one */
	TPC_MPI_MATCHED, /* receives a message that was probed */
	TPC_MPI_START,
	TPC_MPI_STARTALL,
	TPC_MPI_WAIT,
	TPC_MPI_WAITALL,
	TPC_MPI_WAITANY,
	TPC_MPI_WAITSOME,
	TPC_MPI_DROP, /* MPI_Request_free */
};

/* Forms that a row is for, beside the plain one. */
enum { TPC_MPI_I = 1, TPC_MPI_INIT = 2, TPC_MPI_R = 4 };

struct tpc_mpi_row {
	const char *name;  /* without "MPI_", in lower case */
	uint8_t what;	   /* enum tprof_comm */
	uint8_t act, kind; /* enum tpc_mpi_act; of MAKE: enum tprof_group */
	uint8_t forms;
	uint8_t in_place;
	bool apart; /* not all members call it: it does not count in the sequence */
	/*
	 * Arguments. `peer`: also the root. `place`: the buffer that may be MPI_IN_PLACE. `request`: of the forms that have
	 * one; behind the info, if a persistent one has that. `flag`: whether it was done.
	 */
	uint8_t comm, peer, tag, source, source_tag, status, made, place, flag, request, color;
	bool info; /* in the persistent form, an info precedes the request */
	struct tpc_mpi_data send, receive;
};

enum tpc_mpi_form { TPC_MPI_PLAIN, TPC_MPI_NONBLOCKING, TPC_MPI_PERSISTENT };

/* Does the function only ask whether something is there? */
bool tpc_mpi_asks(const struct tpc_mpi_row *row);

/* The row of the function, and in which form it is. NULL: its arguments are not looked at. */
const struct tpc_mpi_row *tpc_mpi_row(const char *name, enum tpc_mpi_form *form);

#endif
