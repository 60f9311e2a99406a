/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a call of MPI, in the binding that it is made by. */
#ifndef TPROF_HOOKS_OPS_PRESETS_MPI_ARGUMENTS_H
#define TPROF_HOOKS_OPS_PRESETS_MPI_ARGUMENTS_H

#include "hooks/ops/presets/comm.h"
#include "hooks/ops/presets/mpi_calls.h"
#include "hooks/ops/presets/mpi_library.h"
#include "hooks/ops/typed.h"

/* tpc_signature.way */
enum tpc_mpi_way {
	TPC_MPI_FORTRAN = 1,	/* all arguments are pointers, and handles are integers */
	TPC_MPI_WIDE = 2,	/* counts have 64 bits */
	TPC_MPI_DESCRIBED = 4,	/* buffers are descriptors, which begin with the buffer's address */
	TPC_MPI_FORM_SHIFT = 4, /* enum tpc_mpi_form */
};

/* TPC_OP_SPACE of a call. */
struct tpc_mpi_space {
	uint64_t third;	 /* its third argument, which is not kept */
	uint64_t number; /* of its request, or in the sequence */
	uint64_t key;	 /* of the request that it waits for */
	uint32_t count;	 /* of its requests in thread->waits */
	bool receives;	 /* the request that it waits for receives */
};

struct tpc_mpi_call {
	const struct tpc_mpi_row *row;
	const uintptr_t *frame;
	struct tpc_mpi_space *space;
	struct tpc_thread *thread;
	uint64_t ticks;
	uint8_t form, way;
};

static inline bool tpc_mpi_is_fortran(const struct tpc_mpi_call *call)
{
	return call->way & TPC_MPI_FORTRAN;
}

/* Arguments are counted from 1. */
static inline uintptr_t tpc_mpi_argument(const struct tpc_mpi_call *call, unsigned i)
{
	return i == 3 ? call->space->third : tpc_argument(call->frame, i - 1);
}

static inline int32_t tpc_mpi_integer(const struct tpc_mpi_call *call, unsigned i)
{
	uintptr_t value = tpc_mpi_argument(call, i);

	return tpc_mpi_is_fortran(call) ? *(const int32_t *)value : (int32_t)value;
}

/* Number `i` of an array of counts. */
static inline int64_t tpc_mpi_count_at(const struct tpc_mpi_call *call, uintptr_t array, size_t i)
{
	return call->way & TPC_MPI_WIDE ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

static inline int64_t tpc_mpi_count(const struct tpc_mpi_call *call, unsigned i)
{
	uintptr_t value = tpc_mpi_argument(call, i);

	if (tpc_mpi_is_fortran(call))
		return tpc_mpi_count_at(call, value, 0);
	return call->way & TPC_MPI_WIDE ? (int64_t)value : (int32_t)value;
}

/* Number `i` of an array of handles, as the binding has them. */
static inline uintptr_t tpc_mpi_raw_at(const struct tpc_mpi_call *call, uintptr_t array, size_t i)
{
	if (tpc_mpi_pointers && !tpc_mpi_is_fortran(call))
		return ((const uintptr_t *)array)[i];
	return ((const uint32_t *)array)[i];
}

/* An argument that is a handle. */
static inline uintptr_t tpc_mpi_raw(const struct tpc_mpi_call *call, unsigned i)
{
	uintptr_t value = tpc_mpi_argument(call, i);

	if (tpc_mpi_is_fortran(call))
		return *(const uint32_t *)value;
	return tpc_mpi_pointers ? value : (uint32_t)value;
}

/* As the library has it: Fortran's are converted. */
static inline tpc_mpi_handle tpc_mpi_converted(const struct tpc_mpi_call *call, uintptr_t raw,
					       tpc_mpi_handle (*f2c)(int))
{
	return tpc_mpi_pointers && tpc_mpi_is_fortran(call) ? f2c((int)raw) : raw;
}

/*
 * What a request or a message is remembered by; 0: it is none. With Open MPI, Fortran's numbers are not pointers, and are not
 * converted: each finds its own.
 */
static inline uint64_t tpc_mpi_key(const struct tpc_mpi_call *call, uintptr_t raw)
{
	if (tpc_mpi_pointers && tpc_mpi_is_fortran(call))
		return raw ? UINT64_C(1) << 62 | (uint32_t)raw : 0;
	return tpc_mpi_is_request(raw) ? raw : 0;
}

/* Its source, tag and size; false: the program does not ask for them, or they can't be right. */
bool tpc_mpi_status_at(const struct tpc_mpi_call *call, uintptr_t status, struct tpc_comm_done *done);

/* What a call that communicates with members of `group` (NULL: not known) asks for: all but sequence, request and stack. */
void tpc_mpi_describe(const struct tpc_mpi_call *call, const struct tpc_group *group, struct tpc_comm *comm);

/* The group of that handle. MPI_COMM_WORLD and MPI_COMM_SELF are known from their first use. */
struct tpc_group *tpc_mpi_group(tpc_mpi_handle handle);

/* The communicator or window that the call is about; NULL: not known. */
struct tpc_group *tpc_mpi_group_of(const struct tpc_mpi_call *call);

/* The call has made a communicator or window, if it has: remembers it. `sequence`: of the call, among its parent's. */
void tpc_mpi_made(const struct tpc_mpi_call *call, uint64_t sequence);

/* The communicator or window at that address is about to be freed. */
void tpc_mpi_freed(const struct tpc_mpi_call *call);

/* Calls that are about requests begin, and end; `failed`: with an error. */
void tpc_mpi_requests_begun(const struct tpc_mpi_call *call);
void tpc_mpi_requests_ended(const struct tpc_mpi_call *call, bool failed);

/* Writes what the call asks for. */
void tpc_mpi_emit(const struct tpc_mpi_call *call, struct tpc_comm *comm);

#endif
