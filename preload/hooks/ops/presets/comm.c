/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/comm.h"

#include "core/space.h"
#include "core/thread.h"

#define GROUPS 1024u /* places; powers of two */
#define REQUESTS 16384u
#define NEAR 32u /* an entry is at most so many places behind the one that its handle stands for */
#define FREE 0
#define WRITING 1 /* no handle is that small, but for null ones */

struct request {
	tpc_shared_u64 key;
	tpc_shared_u64 number;			      /* 0: not active */
	TPC_SHARED(const struct tpc_thread *) thread; /* that began it; for comparing only */
	struct tpc_comm comm;
} __attribute__((aligned(64)));

static TPC_SHARED(struct tpc_group *) groups; /* made_of() pairs with the loads that acquire */
static TPC_SHARED(struct request *) requests;
static tpc_shared_u32 group_numbers;
static tpc_shared_u64 request_numbers;

static size_t place_of(uint64_t key, size_t places)
{
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (places - 1);
}

/* ---- groups ---- */

static struct tpc_group *all_groups(void)
{
	struct tpc_group *all = tpc_load_acquire(&groups), *made;

	if (tpc_likely(all))
		return all;
	made = tpc_space_take(GROUPS * sizeof(*made));
	if (made && !tpc_swap_if(&groups, NULL, made))
		tpc_space_give_back(made, GROUPS * sizeof(*made)); /* another thread was first */
	return tpc_load_acquire(&groups);
}

struct tpc_group *tpc_group_find(uint64_t key)
{
	struct tpc_group *all = tpc_load_acquire(&groups);
	size_t place = place_of(key, GROUPS);

	for (size_t i = 0; all && key > WRITING && i < NEAR; i++) {
		struct tpc_group *group = &all[(place + i) & (GROUPS - 1)];

		if (tpc_load_acquire(&group->key) == key) /* pairs with tpc_group_add() */
			return group;
	}
	return NULL;
}

static struct tpc_group *claim_group(uint64_t key)
{
	struct tpc_group *all = all_groups();
	size_t place = place_of(key, GROUPS);

	for (size_t i = 0; all && i < NEAR; i++) {
		struct tpc_group *group = &all[(place + i) & (GROUPS - 1)];

		if (tpc_load(&group->key) == FREE && tpc_swap_if(&group->key, (uint64_t)FREE, (uint64_t)WRITING))
			return group;
	}
	return NULL;
}

struct tpc_group *tpc_group_add(uint64_t key, struct tpc_communicator_record *record)
{
	struct tpc_group *group;

	if (key <= WRITING)
		return NULL;
	tpc_group_remove(key);
	group = claim_group(key);
	if (!group)
		return NULL;
	record->number = tpc_add(&group_numbers, 1u) + 1;
	tpc_table_communicator(record);
	tpc_store(&group->sequence, UINT64_C(0));
	group->number = record->number;
	group->size = record->size;
	group->rank = record->rank;
	group->leader = record->leader;
	group->kind = record->kind;
	group->in = record->has_topology ? record->in_count : 0;
	group->out = record->has_topology ? record->out_count : 0;
	tpc_store_release(&group->key, key);
	return group;
}

void tpc_group_remove(uint64_t key)
{
	struct tpc_group *group;

	while ((group = tpc_group_find(key)) != NULL)
		tpc_swap_if(&group->key, key, (uint64_t)FREE);
}

/* ---- requests ---- */

static struct request *all_requests(void)
{
	struct request *all = tpc_load_acquire(&requests), *made;

	if (tpc_likely(all))
		return all;
	made = tpc_space_take(REQUESTS * sizeof(*made));
	if (made && !tpc_swap_if(&requests, NULL, made))
		tpc_space_give_back(made, REQUESTS * sizeof(*made));
	return tpc_load_acquire(&requests);
}

uint64_t tpc_request_number(void)
{
	return tpc_add(&request_numbers, UINT64_C(1)) + 1;
}

bool tpc_request_add(uint64_t key, const struct tpc_pending *pending)
{
	struct request *all = all_requests();
	size_t place = place_of(key, REQUESTS);

	for (size_t i = 0; all && key > WRITING && i < NEAR; i++) {
		struct request *request = &all[(place + i) & (REQUESTS - 1)];

		if (tpc_load(&request->key) != FREE || !tpc_swap_if(&request->key, (uint64_t)FREE, (uint64_t)WRITING))
			continue;
		tpc_store(&request->number, pending->number);
		tpc_store(&request->thread, (const struct tpc_thread *)tpc_self);
		request->comm = pending->comm;
		tpc_store_release(&request->key, key); /* pairs with find() */
		return true;
	}
	return false;
}

/* Is it the one with that number? 0: any that was not found complete. */
static bool is_meant(const struct request *request, uint64_t number)
{
	uint64_t own = tpc_load(&request->number);

	return number ? own == number : own || request->comm.flags & TPROF_COMM_PERSISTENT;
}

/* Of several that have the handle, one that this thread began: threads would exchange their numbers. */
static struct request *find(uint64_t key, uint64_t number)
{
	struct request *all = tpc_load_acquire(&requests), *other = NULL;
	size_t place = place_of(key, REQUESTS);

	for (size_t i = 0; all && key > WRITING && i < NEAR; i++) {
		struct request *request = &all[(place + i) & (REQUESTS - 1)];

		if (tpc_load_acquire(&request->key) != key || !is_meant(request, number))
			continue;
		if (number || tpc_load(&request->thread) == tpc_self)
			return request;
		other = other ? other : request;
	}
	return other;
}

bool tpc_request_find(uint64_t key, struct tpc_pending *pending)
{
	const struct request *request = find(key, 0);

	if (!request)
		return false;
	*pending = (struct tpc_pending){ tpc_load(&request->number), request->comm };
	return true;
}

bool tpc_request_start(uint64_t key, struct tpc_pending *pending)
{
	struct request *request = find(key, 0);

	if (!request || !(request->comm.flags & TPROF_COMM_PERSISTENT))
		return false;
	if (request->comm.sequence)
		request->comm.sequence += TPROF_COMM_START_SEQUENCE;
	*pending = (struct tpc_pending){ tpc_request_number(), request->comm };
	tpc_store(&request->number, pending->number);
	return true;
}

bool tpc_request_complete(uint64_t key, uint64_t number)
{
	struct request *request = number ? find(key, number) : NULL;

	bool persistent = request && request->comm.flags & TPROF_COMM_PERSISTENT;

	if (!request || !tpc_swap_if(&request->number, number, UINT64_C(0)))
		return false;
	if (!persistent)
		tpc_store_release(&request->key, (uint64_t)FREE);
	return true;
}

void tpc_request_remove(uint64_t key, uint64_t number)
{
	struct request *request = find(key, number);

	if (request)
		tpc_swap_if(&request->key, key, (uint64_t)FREE);
}

void tpc_comm_forget(void)
{
	if (tpc_unshared(groups))
		tpc_space_give_back(tpc_unshared(groups), GROUPS * sizeof(struct tpc_group));
	if (tpc_unshared(requests))
		tpc_space_give_back(tpc_unshared(requests), REQUESTS * sizeof(struct request));
	tpc_unshared(groups) = NULL;
	tpc_unshared(requests) = NULL;
	tpc_unshared(group_numbers) = 0;
	tpc_unshared(request_numbers) = 0;
}
