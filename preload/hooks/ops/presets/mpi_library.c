/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/mpi_library.h"

#include <tprof/comm.h>

#include "core/lookup.h"

struct tpc_mpi tpc_mpi;
tpc_shared_bool tpc_mpi_known;
bool tpc_mpi_pointers;

/* Open MPI's variables that hold its handles. */
static const tpc_mpi_handle *world_at, *self_at, *comm_null_at, *request_null_at;
static const void *const
	*c_ignored[2];		/* of MPI_F_STATUS_IGNORE and MPI_F_STATUSES_IGNORE: what Fortran passes for it */
static const void *ignored[8];	/* the same of the module mpi_f08 */
static const void *in_place[4]; /* what Fortran passes for MPI_IN_PLACE; */
static const void *const *in_place_at; /* also what that leads to */

static const struct function {
	const char *name;
	size_t offset;
} functions[] = {
#define FUNCTION(member, name)                                                                                         \
	{                                                                                                              \
		"PMPI_" name, offsetof(struct tpc_mpi, member)                                                         \
	}
	FUNCTION(comm_size, "Comm_size"),
	FUNCTION(comm_rank, "Comm_rank"),
	FUNCTION(comm_remote_size, "Comm_remote_size"),
	FUNCTION(comm_test_inter, "Comm_test_inter"),
	FUNCTION(comm_group, "Comm_group"),
	FUNCTION(win_get_group, "Win_get_group"),
	FUNCTION(group_size, "Group_size"),
	FUNCTION(group_rank, "Group_rank"),
	FUNCTION(group_translate_ranks, "Group_translate_ranks"),
	FUNCTION(group_free, "Group_free"),
	FUNCTION(topo_test, "Topo_test"),
	FUNCTION(cartdim_get, "Cartdim_get"),
	FUNCTION(cart_shift, "Cart_shift"),
	FUNCTION(graph_neighbors_count, "Graph_neighbors_count"),
	FUNCTION(graph_neighbors, "Graph_neighbors"),
	FUNCTION(dist_graph_neighbors_count, "Dist_graph_neighbors_count"),
	FUNCTION(dist_graph_neighbors, "Dist_graph_neighbors"),
	FUNCTION(type_size, "Type_size_x"),
};
static const struct function conversions[] = {
	FUNCTION(comm_f2c, "Comm_f2c"),
	FUNCTION(type_f2c, "Type_f2c"),
	FUNCTION(win_f2c, "Win_f2c"),
};

static bool look_up(const struct function *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		void *found = tpc_lookup_first(list[i].name);

		if (!found)
			return false;
		memcpy((char *)&tpc_mpi + list[i].offset, &found, sizeof(found));
	}
	return true;
}

static void find_fortran(void)
{
	static const char *const statuses[] = { "mpi_fortran_status_ignore",	  "mpi_fortran_statuses_ignore",
						"mpi_fortran_status_ignore_",	  "mpi_fortran_statuses_ignore_",
						"MPIR_F08_MPI_STATUS_IGNORE_OBJ", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ" };
	static const char *const places[] = { "mpi_fortran_in_place_", "mpi_fortran_in_place",
					      "MPIR_F08_MPI_IN_PLACE" };

	c_ignored[0] = tpc_lookup_variable("MPI_F_STATUS_IGNORE");
	c_ignored[1] = tpc_lookup_variable("MPI_F_STATUSES_IGNORE");
	for (size_t i = 0; i < TPC_LENGTH(statuses); i++)
		ignored[i] = tpc_lookup_variable(statuses[i]);
	for (size_t i = 0; i < TPC_LENGTH(places); i++)
		in_place[i] = tpc_lookup_variable(places[i]);
	in_place_at = tpc_lookup_variable("MPIR_F_MPI_IN_PLACE");
}

static bool find_handles(void)
{
	world_at = tpc_lookup_variable("ompi_mpi_comm_world_addr");
	tpc_mpi_pointers = world_at != NULL;
	if (!tpc_mpi_pointers)
		return tpc_lookup_first("MPID_Init") || tpc_lookup_variable("MPIR_Process") ||
		       tpc_lookup_variable("MPI_UNWEIGHTED");
	self_at = tpc_lookup_variable("ompi_mpi_comm_self_addr");
	comm_null_at = tpc_lookup_variable("ompi_mpi_comm_null_addr");
	request_null_at = tpc_lookup_variable("ompi_request_null_addr");
	return self_at && comm_null_at && request_null_at && look_up(conversions, TPC_LENGTH(conversions));
}

void tpc_mpi_find(void *target)
{
	(void)target;
	if (tpc_load(&tpc_mpi_known) || !look_up(functions, TPC_LENGTH(functions)) || !find_handles())
		return;
	find_fortran();
	tpc_store_release(&tpc_mpi_known, true); /* pairs with the hooks' load */
}

tpc_mpi_handle tpc_mpi_world(void)
{
	return tpc_mpi_pointers ? *world_at : 0x44000000;
}

tpc_mpi_handle tpc_mpi_self(void)
{
	return tpc_mpi_pointers ? *self_at : 0x44000001;
}

/* MPICH: the two upper bits are 0 in null handles, and the next four say what it is of. */
static bool is_number_of(tpc_mpi_handle handle, uint32_t kind)
{
	return (uint32_t)handle >> 30 && ((uint32_t)handle >> 26 & 15) == kind;
}

bool tpc_mpi_is_comm(tpc_mpi_handle handle)
{
	return tpc_mpi_pointers ? handle && handle != *comm_null_at : is_number_of(handle, 1);
}

/* Open MPI: its type MPI_DATATYPE_NULL has a size, 0. */
bool tpc_mpi_is_type(tpc_mpi_handle handle)
{
	return tpc_mpi_pointers ? handle && handle != tpc_mpi.type_f2c(0) : is_number_of(handle, 3);
}

bool tpc_mpi_is_request(tpc_mpi_handle handle)
{
	return tpc_mpi_pointers ? handle && handle != *request_null_at : is_number_of(handle, 11);
}

int32_t tpc_mpi_peer(int32_t rank)
{
	int32_t any = tpc_mpi_pointers ? -1 : -2, nobody = tpc_mpi_pointers ? -2 : -1;

	return rank == any ? TPROF_COMM_ANY : rank == nobody ? TPROF_COMM_NOBODY : rank;
}

bool tpc_mpi_in_place(uintptr_t buffer, bool fortran)
{
	if (!fortran)
		return buffer == (tpc_mpi_pointers ? 1 : UINTPTR_MAX);
	for (size_t i = 0; i < TPC_LENGTH(in_place); i++) {
		if (in_place[i] && buffer == (uintptr_t)in_place[i])
			return true;
	}
	return in_place_at && buffer == (uintptr_t)*in_place_at;
}

bool tpc_mpi_is_ignored(uintptr_t status)
{
	if (status <= 1)
		return true;
	for (size_t i = 0; i < TPC_LENGTH(c_ignored); i++) {
		if (c_ignored[i] && status == (uintptr_t)*c_ignored[i])
			return true;
	}
	for (size_t i = 0; i < TPC_LENGTH(ignored); i++) {
		if (ignored[i] && status == (uintptr_t)ignored[i])
			return true;
	}
	return false;
}

/* In Fortran the same, as an array of integers. */
void tpc_mpi_read_status(uintptr_t at, struct tpc_mpi_status *status)
{
	int32_t words[6];

	memcpy(words, (const void *)at, TPC_MPI_STATUS_BYTES);
	if (tpc_mpi_pointers) {
		memcpy(&status->bytes, &words[4], sizeof(status->bytes));
		status->source = words[0];
		status->tag = words[1];
		status->cancelled = words[3] != 0;
	} else {
		status->bytes = (uint64_t)((uint32_t)words[1] >> 1) << 32 | (uint32_t)words[0];
		status->source = words[2];
		status->tag = words[3];
		status->cancelled = words[1] & 1;
	}
	status->source = tpc_mpi_peer(status->source);
}
