/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hooks of MPI need of the library: its own functions, under their PMPI_ names, which nothing intercepts, and its
 * constants. Open MPI's handles are pointers, MPICH's numbers of 32 bits (and so are those of libraries derived from
 * it). Of other libraries nothing is known, and their calls are ops without arguments.
 */
#ifndef TPROF_HOOKS_OPS_PRESETS_MPI_LIBRARY_H
#define TPROF_HOOKS_OPS_PRESETS_MPI_LIBRARY_H

#include "core/base.h"

/* A handle as it is passed, in C's binding: 32 bits of it with MPICH. */
typedef uintptr_t tpc_mpi_handle;

struct tpc_mpi {
	int (*comm_size)(tpc_mpi_handle, int *);
	int (*comm_rank)(tpc_mpi_handle, int *);
	int (*comm_remote_size)(tpc_mpi_handle, int *);
	int (*comm_test_inter)(tpc_mpi_handle, int *);
	int (*comm_group)(tpc_mpi_handle, tpc_mpi_handle *);
	int (*win_get_group)(tpc_mpi_handle, tpc_mpi_handle *);
	int (*group_size)(tpc_mpi_handle, int *);
	int (*group_rank)(tpc_mpi_handle, int *);
	int (*group_translate_ranks)(tpc_mpi_handle, int, const int *, tpc_mpi_handle, int *);
	int (*group_free)(tpc_mpi_handle *);
	int (*topo_test)(tpc_mpi_handle, int *);
	int (*cartdim_get)(tpc_mpi_handle, int *);
	int (*cart_shift)(tpc_mpi_handle, int, int, int *, int *);
	int (*graph_neighbors_count)(tpc_mpi_handle, int, int *);
	int (*graph_neighbors)(tpc_mpi_handle, int, int, int *);
	int (*dist_graph_neighbors_count)(tpc_mpi_handle, int *, int *, int *);
	int (*dist_graph_neighbors)(tpc_mpi_handle, int, int *, int *, int, int *, int *);
	int (*type_size)(tpc_mpi_handle, int64_t *);
	/* Open MPI's: from Fortran's handles. */
	tpc_mpi_handle (*comm_f2c)(int);
	tpc_mpi_handle (*type_f2c)(int);
	tpc_mpi_handle (*win_f2c)(int);
};
extern struct tpc_mpi tpc_mpi;

/* Is the library known, and are its handles pointers? */
extern tpc_shared_bool tpc_mpi_known;
extern bool tpc_mpi_pointers;

/* tpc_signature.bound: looks all that up. */
void tpc_mpi_find(void *target);

tpc_mpi_handle tpc_mpi_world(void);
tpc_mpi_handle tpc_mpi_self(void);

/* Does the handle stand for something? Only then may the library be asked about it. */
bool tpc_mpi_is_comm(tpc_mpi_handle handle);
bool tpc_mpi_is_type(tpc_mpi_handle handle);
bool tpc_mpi_is_request(tpc_mpi_handle handle);

/* A rank as format.h has it: TPROF_COMM_ANY, TPROF_COMM_NOBODY. */
int32_t tpc_mpi_peer(int32_t rank);

/* MPI_IN_PLACE; MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE. */
bool tpc_mpi_in_place(uintptr_t buffer, bool fortran);
bool tpc_mpi_is_ignored(uintptr_t status);

struct tpc_mpi_status {
	int32_t source, tag;
	uint64_t bytes;
	bool cancelled;
};
#define TPC_MPI_STATUS_BYTES (tpc_mpi_pointers ? 24u : 20u)
void tpc_mpi_read_status(uintptr_t at, struct tpc_mpi_status *status);

#endif
