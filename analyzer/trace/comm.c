/* SPDX-License-Identifier: Apache-2.0 */
/* Calls by which the processes of a parallel job communicate: COMM and COMM_DONE events, COMMUNICATOR records. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/varint.h"
#include "trace/payload.h"
#include "trace/records.h"

#define GROUPS_MAX 65536u /* a trace with more is damaged */
#define BYTES_MOST (UINT64_C(1) << 52)

static bool take_rank(const uint8_t **at, const uint8_t *end, int32_t *rank)
{
	uint64_t number;
	int64_t value;

	if (!tpa_uvarint_within(at, end, &number))
		return false;
	value = (int64_t)((number >> 1) ^ (0 - (number & 1)));
	*rank = value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : (int32_t)value;
	return true;
}

static bool take_small(const uint8_t **at, const uint8_t *end, uint32_t *number)
{
	uint64_t value;

	if (!tpa_uvarint_within(at, end, &value) || value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

static bool take_bytes(const uint8_t **at, const uint8_t *end, uint64_t *bytes)
{
	if (!tpa_uvarint_within(at, end, bytes))
		return false;
	*bytes = *bytes < BYTES_MOST ? *bytes : BYTES_MOST;
	return true;
}

static bool take_parts(const uint8_t **at, const uint8_t *end, struct tpa_comm *comm)
{
	if (*at == end || (*at)[0] > sizeof(comm->part_bits) || (*at)[0] > end - *at - 1)
		return false;
	comm->part_bytes = (*at)[0];
	memcpy(comm->part_bits, *at + 1, comm->part_bytes);
	*at += 1u + comm->part_bytes;
	return true;
}

bool tpa_comm_read(struct tpa_comm *comm, const uint8_t *bytes, size_t length)
{
	const uint8_t *at = bytes, *end = bytes + length;

	memset(comm, 0, sizeof(*comm));
	if (length < 2)
		return false;
	comm->what = *at++;
	comm->begins = *at & TPROF_COMM_NONBLOCKING;
	comm->again = *at & TPROF_COMM_PERSISTENT;
	at++;
	comm->both = comm->what == TPROF_COMM_SENDRECV;
	comm->parts = !comm->both && bytes[1] & TPROF_COMM_PARTS;
	return take_small(&at, end, &comm->communicator) && tpa_uvarint_within(&at, end, &comm->sequence) &&
	       take_rank(&at, end, &comm->peer) && take_rank(&at, end, &comm->tag) &&
	       take_bytes(&at, end, &comm->sent) && take_bytes(&at, end, &comm->received) &&
	       tpa_uvarint_within(&at, end, &comm->request) && take_small(&at, end, &comm->node) &&
	       (!comm->both || (take_rank(&at, end, &comm->source) && take_rank(&at, end, &comm->source_tag))) &&
	       (!comm->parts || take_parts(&at, end, comm));
}

bool tpa_comm_done_read(struct tpa_comm_done *done, const uint8_t *bytes, size_t length)
{
	const uint8_t *at = bytes, *end = bytes + length;

	memset(done, 0, sizeof(*done));
	if (!tpa_uvarint_within(&at, end, &done->request) || at == end)
		return false;
	done->status = *at & TPROF_COMM_DONE_STATUS;
	done->cancelled = *at & TPROF_COMM_DONE_CANCELLED;
	done->freed = *at & TPROF_COMM_DONE_FREED;
	at++;
	return !done->status || (take_rank(&at, end, &done->source) && take_rank(&at, end, &done->tag) &&
				 take_bytes(&at, end, &done->bytes));
}

const char *tpa_comm_name(unsigned what)
{
	static const char *const names[] = {
		[TPROF_COMM_BARRIER] = "barrier",
		[TPROF_COMM_BCAST] = "bcast",
		[TPROF_COMM_REDUCE] = "reduce",
		[TPROF_COMM_ALLREDUCE] = "allreduce",
		[TPROF_COMM_GATHER] = "gather",
		[TPROF_COMM_SCATTER] = "scatter",
		[TPROF_COMM_ALLGATHER] = "allgather",
		[TPROF_COMM_ALLTOALL] = "alltoall",
		[TPROF_COMM_REDUCE_SCATTER] = "reduce_scatter",
		[TPROF_COMM_SCAN] = "scan",
		[TPROF_COMM_EXSCAN] = "exscan",
		[TPROF_COMM_NEIGHBOR_ALLGATHER] = "neighbor_allgather",
		[TPROF_COMM_NEIGHBOR_ALLTOALL] = "neighbor_alltoall",
		[TPROF_COMM_CREATE] = "create",
		[TPROF_COMM_FREE] = "free",
		[TPROF_COMM_FENCE] = "fence",
		[TPROF_COMM_INIT] = "init",
		[TPROF_COMM_FINALIZE] = "finalize",
		[TPROF_COMM_SEND] = "send",
		[TPROF_COMM_SSEND] = "ssend",
		[TPROF_COMM_BSEND] = "bsend",
		[TPROF_COMM_RSEND] = "rsend",
		[TPROF_COMM_RECV] = "recv",
		[TPROF_COMM_SENDRECV] = "sendrecv",
		[TPROF_COMM_PROBE] = "probe",
		[TPROF_COMM_WAIT] = "wait",
		[TPROF_COMM_TEST] = "test",
		[TPROF_COMM_PUT] = "put",
		[TPROF_COMM_GET] = "get",
		[TPROF_COMM_ACCUMULATE] = "accumulate",
		[TPROF_COMM_LOCK] = "lock",
		[TPROF_COMM_UNLOCK] = "unlock",
		[TPROF_COMM_FLUSH] = "flush",
		[TPROF_COMM_POST] = "post",
		[TPROF_COMM_START] = "start",
		[TPROF_COMM_COMPLETE] = "complete",
		[TPROF_COMM_WIN_WAIT] = "win_wait",
	};

	return what < sizeof(names) / sizeof(*names) && names[what] ? names[what] : "?";
}

const char *tpa_group_name(unsigned kind)
{
	static const char *const names[] = {
		[TPROF_GROUP_WORLD] = "world",
		[TPROF_GROUP_SELF] = "self",
		[TPROF_GROUP_COMMUNICATOR] = "communicator",
		[TPROF_GROUP_INTER] = "inter",
		[TPROF_GROUP_WINDOW] = "window",
		[TPROF_GROUP_TORCH] = "torch",
	};

	return kind < sizeof(names) / sizeof(*names) && names[kind] ? names[kind] : "?";
}

/* ---- groups ---- */

static struct tpa_known_group *group_at(struct tpa_trace *trace, uint32_t number)
{
	size_t room = trace->group_count;

	if (number >= trace->group_count) {
		tpa_grow(&trace->groups, &room, number + 1u, sizeof(*trace->groups));
		memset(&trace->groups[trace->group_count], 0,
		       (number + 1u - trace->group_count) * sizeof(*trace->groups));
		trace->group_count = number + 1u;
	}
	return &trace->groups[number];
}

/* The members that it exchanges data with. The list is the caller's, also if false. */
static bool read_ranks(const uint8_t **at, const uint8_t *end, uint32_t *count, uint32_t **list)
{
	if (!take_small(at, end, count) || *count > (uint64_t)(end - *at))
		return false;
	*list = tpa_zalloc(*count + 1u, sizeof(**list));
	for (uint32_t i = 0; i < *count; i++)
		if (!take_small(at, end, &(*list)[i]))
			return false;
	return true;
}

/* Older traces tell 0 for nobody: which ranks these are is not known. */
static bool read_topology(struct tpa_known_group *group, const uint8_t *at, const uint8_t *end)
{
	uint32_t *destinations = NULL;
	bool read = read_ranks(&at, end, &group->sources, &group->source_ranks) &&
		    read_ranks(&at, end, &group->destinations, &destinations);

	free(destinations);
	if (!read || at == end || !(*at & TPROF_GROUP_NOBODY)) {
		free(group->source_ranks);
		group->source_ranks = NULL;
	}
	return read;
}

static bool read_group(struct tpa_known_group *group, uint32_t *number, const uint8_t *at, const uint8_t *end)
{
	uint64_t color;
	uint8_t length;

	if (!take_small(&at, end, number) || at == end)
		return false;
	group->kind = *at++;
	if (!take_small(&at, end, &group->size) || !take_small(&at, end, &group->rank) ||
	    !take_small(&at, end, &group->parent) || !tpa_uvarint_within(&at, end, &group->parent_sequence) ||
	    !take_rank(&at, end, &group->leader) || !tpa_uvarint_within(&at, end, &color) || at == end)
		return false;
	group->color = (int64_t)((color >> 1) ^ (0 - (color & 1)));
	length = *at++;
	if (length > end - at)
		return false;
	group->name = tpa_strndup((const char *)at, length);
	at += length;
	return at == end || read_topology(group, at, end);
}

static void free_group(const struct tpa_known_group *group)
{
	free(group->name);
	free(group->source_ranks);
}

const char *tpa_fact_communicator(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	struct tpa_known_group group = { 0 };
	uint32_t number = 0;

	if (!read_group(&group, &number, at, end) || !number || number >= GROUPS_MAX || group.parent >= number ||
	    !group.size || group.rank >= group.size) {
		free_group(&group);
		return TPA_CUT_RECORD;
	}
	free_group(group_at(trace, number));
	trace->groups[number] = group;
	return NULL;
}

void tpa_facts_groups_free(struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->group_count; i++)
		free_group(&trace->groups[i]);
	free(trace->groups);
}
