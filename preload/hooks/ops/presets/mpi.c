/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/presets.h"

#include "core/thread.h"
#include "hooks/ops/presets/mpi_arguments.h"
#include "hooks/ops/presets/mpi_record.h"

/* Longer than any name of an MPI function. */
#define NAME_BYTES 64u

/*
 * Names without "MPI_" and in lower case. Functions that only query a state, or create a description (of a type, a
 * group, an operation), are left out. PMPI_, the profiling interface, is the library's own.
 */
static const char *const globs[] = {
	/* The job's begin and end. */
	"init",
	"init_thread",
	"finalize",
	/* Messages, also persistent and partitioned. */
	"send",
	"bsend",
	"ssend",
	"rsend",
	"isend",
	"ibsend",
	"issend",
	"irsend",
	"recv",
	"irecv",
	"mrecv",
	"imrecv",
	"sendrecv*",
	"isendrecv*",
	"probe",
	"iprobe",
	"mprobe",
	"improbe",
	"*send_init",
	"*recv_init",
	"pready*",
	"parrived",
	"start",
	"startall",
	"buffer_detach",
	"buffer_flush",
	/* Waiting for them. */
	"wait",
	"waitall",
	"waitany",
	"waitsome",
	"test",
	"testall",
	"testany",
	"testsome",
	"request_free",
	/* Collectives, also persistent. */
	"allreduce*",
	"iallreduce*",
	"reduce*",
	"ireduce*",
	"bcast*",
	"ibcast*",
	"allgather*",
	"iallgather*",
	"alltoall*",
	"ialltoall*",
	"gather*",
	"igather*",
	"scatter*",
	"iscatter*",
	"scan*",
	"iscan*",
	"exscan*",
	"iexscan*",
	"barrier*",
	"ibarrier*",
	"neighbor_*",
	"ineighbor_*",
	/* Communicators, which all of their processes create together. */
	"comm_dup*",
	"comm_idup*",
	"comm_split*",
	"comm_create",
	"comm_create_group",
	"comm_create_from_group",
	"comm_free",
	"comm_spawn*",
	"comm_accept",
	"comm_connect",
	"comm_disconnect",
	"comm_join",
	"intercomm_create*",
	"intercomm_merge",
	"cart_create",
	"cart_sub",
	"graph_create",
	"dist_graph_create*",
	/* One-sided. */
	"put",
	"get",
	"accumulate",
	"get_accumulate",
	"fetch_and_op",
	"compare_and_swap",
	"rput",
	"rget",
	"raccumulate",
	"rget_accumulate",
	"win_create*",
	"win_allocate*",
	"win_free",
	"win_fence",
	"win_start",
	"win_complete",
	"win_post",
	"win_wait",
	"win_test",
	"win_lock*",
	"win_unlock*",
	"win_flush*",
	/* Files. */
	"file_read*",
	"file_write*",
	"file_iread*",
	"file_iwrite*",
	"file_open",
	"file_close",
	"file_sync",
};
static const char *const leave_out[] = { "win_create_keyval", "win_create_errhandler" };

static bool communicates(const char *name)
{
	for (size_t i = 0; i < TPC_LENGTH(leave_out); i++) {
		if (strcmp(name, leave_out[i]) == 0)
			return false;
	}
	for (size_t i = 0; i < TPC_LENGTH(globs); i++) {
		if (tpc_text_glob(globs[i], name))
			return true;
	}
	return false;
}

/* Strips what compilers and libraries append to a function's name: underscores, and the binding. */
static size_t without_suffixes(const char *name, size_t length)
{
	static const char *const suffixes[] = { "_", "_c", "_f", "_fts", "_f08", "_f08ts", "_large" };
	bool found = true;

	while (found) {
		found = false;
		for (size_t i = 0; i < TPC_LENGTH(suffixes); i++) {
			size_t bytes = strlen(suffixes[i]);

			if (length > bytes && memcmp(name + length - bytes, suffixes[i], bytes) == 0) {
				length -= bytes;
				found = true;
			}
		}
	}
	return length;
}

/*
 * "Send" of MPI_Send and MPI_Send_c; all others, such as mpi_send_, MPI_SEND, mpi_send_f08_ and MPI_Send_f08, are
 * Fortran names.
 */
static bool is_c(const char *symbol)
{
	bool capital = symbol[0] == 'M' && symbol[4] >= 'A' && symbol[4] <= 'Z';

	return capital && symbol[5] >= 'a' && symbol[5] <= 'z' && !strstr(symbol, "_f08") &&
	       !tpc_text_glob("*_f", symbol) && !tpc_text_glob("*_fts", symbol);
}

/* ---- wrappers ---- */

/* The shape of the Fortran entry point that was called last, by which the thread's fold knows its op; 0: none. */
static TPC_TLS uint64_t wrapper;

static bool is_pending(const struct tpc_thread *thread)
{
	return thread->fold.frame != 0;
}

static void wrapper_begun(const struct tpc_signature *signature, uintptr_t *frame)
{
	const struct tpc_thread *thread = tpc_self;

	if (signature->about)
		tpc_mpi_begun(signature, frame);
	wrapper = is_pending(thread) ? thread->fold.hot->shape : thread->op_open[thread->op_depth - 1].shape;
}

/* Is it a wrapper that calls the function with that frame? */
static uint32_t op_of(const uintptr_t *frame, bool may_write)
{
	const struct tpc_thread *thread = tpc_self;
	const struct tpc_open_op *open = thread->op_depth ? &thread->op_open[thread->op_depth - 1] : NULL;
	uint64_t shape = is_pending(thread) ? thread->fold.hot->shape : open ? open->shape : 0;
	uintptr_t caller = is_pending(thread) ? thread->fold.frame : open ? open->frame : 0;

	(void)may_write;
	return wrapper && shape == wrapper && caller > (uintptr_t)frame ? TPC_OP_SILENT : TPC_OP_OWN;
}

/* What its arguments mean. `name`: the function's, without what bindings add. */
static void describe(const char *symbol, const char *name, struct tpc_signature *signature)
{
	bool c = is_c(symbol);
	enum tpc_mpi_form form;

	signature->about = tpc_mpi_row(name, &form);
	signature->begun = !c ? wrapper_begun : signature->about ? tpc_mpi_begun : NULL;
	if (!signature->about)
		return;
	signature->bound = tpc_mpi_find;
	signature->ended = tpc_mpi_ended;
	if (tpc_mpi_asks(signature->about))
		signature->idle = tpc_mpi_idle;
	signature->way = (uint8_t)(form << TPC_MPI_FORM_SHIFT);
	if (!c)
		signature->way |= TPC_MPI_FORTRAN;
	if (c ? tpc_text_glob("*_c", symbol) : strstr(symbol, "_large") != NULL)
		signature->way |= TPC_MPI_WIDE;
	if (strstr(symbol, "f08ts") || strstr(symbol, "_fts"))
		signature->way |= TPC_MPI_DESCRIBED;
}

bool tpc_mpi_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
{
	char name[NAME_BYTES];
	size_t length = strnlen(symbol, sizeof(name));

	if (length == sizeof(name))
		return false;
	for (size_t i = 0; i <= length; i++)
		name[i] = symbol[i] >= 'A' && symbol[i] <= 'Z' ? (char)(symbol[i] + ('a' - 'A')) : symbol[i];
	if (strncmp(name, "mpi_", 4) != 0)
		return false;
	name[without_suffixes(name, length)] = 0;
	if (!communicates(name + 4))
		return false;
	signature->op = op_of;
	describe(symbol, name + 4, signature);
	tpc_text_add(to, symbol);
	return true;
}
