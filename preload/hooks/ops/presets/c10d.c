/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/c10d.h"

#include "core/lookup.h"
#include "hooks/gate/enter.h"
#include "hooks/ops/presets/comm.h"
#include "hooks/ops/presets/pointers.h"
#include "hooks/ops/stubs.h"
#include "hooks/ops/tensors.h"

/* ---- what the methods' arguments mean ---- */

enum data { NONE, TENSOR, LIST, LISTS }; /* Tensor &, std::vector<Tensor> &, and a vector of these */

/*
 * Arguments are counted from 0: the address of the result, the group, then the method's own. `peer`: an integer; `root`: options
 * that have the root at `root_at`, or behind the operation that they reduce by (-1).
 */
static const struct row {
	const char *name, *symbol; /* behind the class's */
	uint8_t what;
	uint8_t send_kind, send, receive_kind, receive;
	uint8_t peer, tag, root;
	int8_t root_at;
	bool one_way; /* only the root sends, or receives */
} rows[] = {
#define CLASS "_ZN4c10d16ProcessGroupGloo"
#define TENSORS "ERSt6vectorIN2at6TensorESaIS3_EE"
	{ "allreduce", "9allreduce" TENSORS "RKNS_16AllreduceOptionsE", TPROF_COMM_ALLREDUCE, LIST, 2, LIST, 2,
	  .root = 0 },
	{ "allreduce_coalesced", "19allreduce_coalesced" TENSORS "RKNS_25AllreduceCoalescedOptionsE",
	  TPROF_COMM_ALLREDUCE, LIST, 2, LIST, 2, .root = 0 },
	{ "broadcast", "9broadcast" TENSORS "RKNS_16BroadcastOptionsE", TPROF_COMM_BCAST, LIST, 2, LIST, 2, .root = 3,
	  .one_way = true },
	{ "reduce", "6reduce" TENSORS "RKNS_13ReduceOptionsE", TPROF_COMM_REDUCE, LIST, 2, LIST, 2, .root = 3,
	  .root_at = -1 },
	{ "allgather", "9allgatherERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_16AllgatherOptionsE",
	  TPROF_COMM_ALLGATHER, LIST, 3, LISTS, 2, .root = 0 },
	{ "_allgather_base", "15_allgather_baseERN2at6TensorES3_RKNS_16AllgatherOptionsE", TPROF_COMM_ALLGATHER, TENSOR,
	  3, TENSOR, 2, .root = 0 },
	{ "gather", "6gatherERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_13GatherOptionsE", TPROF_COMM_GATHER,
	  LIST, 3, LISTS, 2, .root = 4 },
	{ "scatter", "7scatter" TENSORS "RS1_IS5_SaIS5_EERKNS_14ScatterOptionsE", TPROF_COMM_SCATTER, LISTS, 3, LIST, 2,
	  .root = 4 },
	{ "alltoall_base", "13alltoall_baseERN2at6TensorES3_RSt6vectorIlSaIlEES7_RKNS_15AllToAllOptionsE",
	  TPROF_COMM_ALLTOALL, TENSOR, 3, TENSOR, 2, .root = 0 },
	{ "barrier", "7barrierERKNS_14BarrierOptionsE", TPROF_COMM_BARRIER, NONE, 0, NONE, 0, .root = 0 },
	{ "send", "4send" TENSORS "ii", TPROF_COMM_SEND, LIST, 2, NONE, 0, .peer = 3, .tag = 4 },
	{ "recv", "4recv" TENSORS "ii", TPROF_COMM_RECV, NONE, 0, LIST, 2, .peer = 3, .tag = 4 },
	{ "recvAnysource", "13recvAnysource" TENSORS "i", TPROF_COMM_RECV, NONE, 0, LIST, 2, .tag = 3 },
};

#define WAIT "4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"
static const char *const waits[] = { "_ZN4c10d4Work" WAIT, CLASS "8SendWork" WAIT, CLASS "8RecvWork" WAIT };

/* By c10::ScalarType: bytes of an element. */
static const uint8_t element_bytes[] = { 1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2 };

static uint64_t bytes_of(uintptr_t impl)
{
	const uint64_t *words = (const uint64_t *)(impl + tpc_tensor_layout.sizes);
	uint16_t type;

	if (!impl || *(const uintptr_t *)impl != tpc_load(&tpc_tensor_layout.vtable))
		return 0;
	type = (uint16_t)words[TPC_TENSOR_TYPE];
	return type < TPC_LENGTH(element_bytes) ? words[TPC_TENSOR_ELEMENTS] * element_bytes[type] : 0;
}

static uint64_t bytes_of_list(const uintptr_t *vector)
{
	uint64_t bytes = 0;

	for (const uintptr_t *at = (const uintptr_t *)vector[0]; at < (const uintptr_t *)vector[1]; at++)
		bytes += bytes_of(*at);
	return bytes;
}

static uint64_t data_bytes(uint8_t kind, uintptr_t argument)
{
	const uintptr_t *words = (const uintptr_t *)argument;
	uint64_t bytes = 0;

	if (!tpc_tensor_known())
		return 0;
	switch (kind) {
	case TENSOR:
		return bytes_of(words[0]);
	case LIST:
		return bytes_of_list(words);
	case LISTS:
		for (uintptr_t at = words[0]; at < words[1]; at += 3 * sizeof(uintptr_t))
			bytes += bytes_of_list((const uintptr_t *)at);
		return bytes;
	default:
		return 0;
	}
}

/* The operation to reduce by is an object since libtorch 1.13, before that a byte. */
static int32_t root_of(const struct row *row, const uintptr_t *frame)
{
	const int64_t *options = (const int64_t *)tpc_argument(frame, row->root);

	if (row->root_at >= 0)
		return (int32_t)options[0];
	return (int32_t)(options[0] > UINT16_MAX ? options[5] : options[1]);
}

static void describe(const struct row *row, const struct tpc_group *group, const uintptr_t *frame,
		     struct tpc_comm *comm)
{
	bool at_root;

	*comm = (struct tpc_comm){ .what = row->what, .peer = TPROF_COMM_ANY, .tag = TPROF_COMM_ANY };
	comm->group = group ? group->number : 0;
	comm->sent = data_bytes(row->send_kind, tpc_argument(frame, row->send));
	comm->received = data_bytes(row->receive_kind, tpc_argument(frame, row->receive));
	if (row->peer)
		comm->peer = (int32_t)tpc_argument(frame, row->peer);
	if (row->tag)
		comm->tag = (int32_t)tpc_argument(frame, row->tag);
	if (!row->root)
		return;
	comm->peer = root_of(row, frame);
	at_root = group && comm->peer == (int32_t)group->rank;
	if (row->one_way ? at_root : row->what == TPROF_COMM_REDUCE && !at_root)
		comm->received = 0;
	if (row->one_way && !at_root)
		comm->sent = 0;
}

/* ---- groups ---- */

#define STORES 64u
#define NAME 88u

/* Prefixes under which members of a group find one another: by the address of the store. */
static struct store {
	tpc_shared_u64 key;
	char name[NAME];
} stores[STORES];
static tpc_shared_u32 next_store;
static tpc_shared_bool has_world;

static const struct store *find_store(uintptr_t key)
{
	for (size_t i = 0; i < STORES; i++) {
		if (tpc_load_acquire(&stores[i].key) == key) /* pairs with note_store() */
			return &stores[i];
	}
	return NULL;
}

/* No libc: no vector register may be touched. */
static size_t add_name(char *to, size_t length, const char *from, size_t count)
{
	for (size_t i = 0; i < count && length < NAME - 1; i++)
		to[length++] = from[i];
	to[length] = 0;
	return length;
}

static size_t length_of(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}

/* PrefixStore(this, prefix, store). It is no op. */
static uint32_t note_store(const uintptr_t *frame, bool may_write)
{
	uintptr_t key = tpc_argument(frame, 0);
	const uintptr_t *prefix = (const uintptr_t *)tpc_argument(frame, 1); /* std::string: its text and length */
	const struct store *inner = find_store(*(const uintptr_t *)tpc_argument(frame, 2));
	struct store *store = (struct store *)(uintptr_t)find_store(key);
	size_t length = 0;

	(void)may_write;
	if (!store)
		store = &stores[tpc_add(&next_store, 1u) % STORES];
	tpc_store(&store->key, UINT64_C(0));
	if (inner) {
		length = add_name(store->name, length, inner->name, length_of(inner->name));
		length = add_name(store->name, length, "/", 1);
	}
	add_name(store->name, length, (const char *)prefix[0], prefix[1]);
	tpc_store_release(&store->key, key);
	return TPC_OP_SILENT;
}

struct space {
	uint64_t request; /* or the rank in the group that is made */
};

/* ProcessGroupGloo(this, store, rank, size, options): connects all pairs. */
static void make_begun(const struct tpc_signature *signature, uintptr_t *frame)
{
	struct space *space = TPC_OP_SPACE(frame);

	(void)signature;
	space->request = (uint32_t)tpc_argument(frame, 2);
}

static void make_ended(const struct tpc_signature *signature, const uintptr_t *frame, uint64_t ticks)
{
	const struct space *space = TPC_OP_SPACE((uintptr_t *)(uintptr_t)frame);
	const struct store *store = find_store(*(const uintptr_t *)tpc_argument(frame, 1));
	bool world = !tpc_exchange(&has_world, true);
	struct tpc_communicator_record record = { .kind = world ? TPROF_GROUP_WORLD : TPROF_GROUP_TORCH,
						  .rank = (uint32_t)space->request,
						  .size = (uint32_t)tpc_argument(frame, 3),
						  .leader = world ? 0 : -1,
						  .color = -1,
						  .name = store ? store->name : "" };
	struct tpc_comm comm = { .what = world ? TPROF_COMM_INIT : TPROF_COMM_CREATE, .peer = TPROF_COMM_ANY };
	struct tpc_thread *thread = tpc_self;

	(void)signature;
	if (!record.size || record.rank >= record.size || !tpc_group_add(tpc_argument(frame, 0), &record))
		return;
	comm.tag = TPROF_COMM_ANY;
	comm.group = record.number;
	comm.node = tpc_caller_stack(thread, frame);
	tpc_emit_comm(thread, ticks, &comm);
}

/* ---- calls ---- */

static uint64_t began(const struct tpc_thread *thread)
{
	return thread->op_open[thread->op_depth - 1].start;
}

static void call_begun(const struct tpc_signature *signature, uintptr_t *frame)
{
	const struct row *row = signature->about;
	struct tpc_group *group = tpc_group_find(tpc_argument(frame, 1));
	struct space *space = TPC_OP_SPACE(frame);
	struct tpc_thread *thread = tpc_self;
	struct tpc_comm comm;

	describe(row, group, frame, &comm);
	if (group && row->what < TPROF_COMM_COLLECTIVES)
		comm.sequence = tpc_group_next(group);
	comm.flags = TPROF_COMM_NONBLOCKING;
	comm.request = space->request = tpc_request_number();
	comm.node = tpc_caller_stack(thread, frame);
	tpc_emit_comm(thread, began(thread), &comm);
}

/* The result is a pointer to a Work. One at that address that nobody waited for is gone. */
static void call_ended(const struct tpc_signature *signature, const uintptr_t *frame, uint64_t ticks)
{
	const struct row *row = signature->about;
	const struct space *space = TPC_OP_SPACE((uintptr_t *)(uintptr_t)frame);
	uintptr_t work = *(const uintptr_t *)tpc_argument(frame, 0);
	struct tpc_pending pending = { .number = space->request, .comm = { .what = row->what } }, old;

	(void)ticks;
	while (tpc_request_find(work, &old))
		tpc_request_remove(work, old.number);
	if (work && !tpc_request_add(work, &pending))
		tpc_lost(TPROF_LOST_REQUESTS, 1);
}

static void wait_begun(const struct tpc_signature *signature, uintptr_t *frame)
{
	struct tpc_comm comm = { .what = TPROF_COMM_WAIT, .peer = TPROF_COMM_ANY, .tag = TPROF_COMM_ANY };
	struct space *space = TPC_OP_SPACE(frame);
	uintptr_t work = tpc_argument(frame, 0);
	struct tpc_thread *thread = tpc_self;
	struct tpc_pending pending;

	(void)signature;
	space->request = 0;
	if (!tpc_request_find(work, &pending) || !tpc_request_complete(work, pending.number))
		return;
	comm.request = space->request = pending.number;
	comm.node = tpc_caller_stack(thread, frame);
	tpc_emit_comm(thread, began(thread), &comm);
}

static void wait_ended(const struct tpc_signature *signature, const uintptr_t *frame, uint64_t ticks)
{
	const struct space *space = TPC_OP_SPACE((uintptr_t *)(uintptr_t)frame);

	(void)signature;
	if (space->request)
		tpc_emit_comm_done(tpc_self, ticks, &(struct tpc_comm_done){ .request = space->request });
}

/* ---- DistributedDataParallel ---- */

/*
 * Its reducer begins an all-reduce for each bucket of gradients, takes the future of its Work, and drops the Work. At the end of the
 * backward pass finalize_backward() waits for the futures of all buckets, in code that is compiled into it. So the requests of these
 * are remembered by their reducer.
 */
#define BUCKETS 256u

static struct bucket {
	tpc_shared_u64 reducer; /* 0: the place is free, 1: it is being written */
	uint64_t request;
} buckets[BUCKETS];
static TPC_TLS uintptr_t reducer; /* whose bucket this thread is about to reduce; 0: none */

/* run_comm_hook(result, this, bucket). It is no op. */
static uint32_t note_reducer(const uintptr_t *frame, bool may_write)
{
	(void)may_write;
	reducer = tpc_argument(frame, 1);
	return TPC_OP_SILENT;
}

static void add_bucket(uintptr_t owner, uint64_t request)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		struct bucket *bucket = &buckets[(request + i) % BUCKETS];

		if (tpc_load(&bucket->reducer) || !tpc_swap_if(&bucket->reducer, UINT64_C(0), UINT64_C(1)))
			continue;
		bucket->request = request;
		tpc_store_release(&bucket->reducer, owner); /* pairs with next_bucket() */
		return;
	}
	tpc_lost(TPROF_LOST_REQUESTS, 1);
}

/* getFuture(result, this) of a Work. It is no op. Within a hook, the first one is that of the bucket. */
static uint32_t note_future(const uintptr_t *frame, bool may_write)
{
	uintptr_t work = tpc_argument(frame, 1), owner = reducer;
	struct tpc_pending pending;

	(void)may_write;
	reducer = 0;
	if (owner && tpc_request_find(work, &pending) && tpc_request_complete(work, pending.number))
		add_bucket(owner, pending.number);
	return TPC_OP_SILENT;
}

/* The next bucket of that reducer behind `bucket`, NULL: the first. NULL: there is none. */
static struct bucket *next_bucket(uintptr_t owner, struct bucket *bucket)
{
	for (bucket = bucket ? bucket + 1 : buckets; bucket < buckets + BUCKETS; bucket++) {
		if (tpc_load_acquire(&bucket->reducer) == owner)
			return bucket;
	}
	return NULL;
}

static void finalize_begun(const struct tpc_signature *signature, uintptr_t *frame)
{
	struct tpc_comm comm = { .what = TPROF_COMM_WAIT, .peer = TPROF_COMM_ANY, .tag = TPROF_COMM_ANY };
	struct space *space = TPC_OP_SPACE(frame);
	uintptr_t owner = tpc_argument(frame, 0);
	struct bucket *first = next_bucket(owner, NULL);
	struct tpc_thread *thread = tpc_self;

	(void)signature;
	space->request = first ? owner : 0;
	if (!first)
		return;
	comm.request = next_bucket(owner, first) ? 0 : first->request;
	comm.node = tpc_caller_stack(thread, frame);
	tpc_emit_comm(thread, began(thread), &comm);
}

static void finalize_ended(const struct tpc_signature *signature, const uintptr_t *frame, uint64_t ticks)
{
	const struct space *space = TPC_OP_SPACE((uintptr_t *)(uintptr_t)frame);
	struct bucket *bucket = NULL;

	(void)signature;
	while (space->request && (bucket = next_bucket(space->request, bucket)) != NULL) {
		tpc_emit_comm_done(tpc_self, ticks, &(struct tpc_comm_done){ .request = bucket->request });
		tpc_store(&bucket->reducer, UINT64_C(0));
	}
}

/* ---- finding them ---- */

static struct method {
	void *function, *stub;
} methods[TPC_LENGTH(rows) + TPC_LENGTH(waits) + 1];
static uint64_t done, refused;

static void hook_slot(void **slot)
{
	for (size_t i = 0; i < TPC_LENGTH(methods); i++) {
		if (!methods[i].stub || *slot != methods[i].function)
			continue;
		if (tpc_pointer_store(slot, methods[i].stub))
			done++;
		else
			refused++;
		return;
	}
}

static void join(char *to, size_t size, const char *first, const char *second)
{
	struct tpc_text text = tpc_text_in(to, size);

	tpc_text_add(&text, first);
	tpc_text_add(&text, second);
}

static void find_method(struct method *method, const void *beside, const char *symbol, struct tpc_op_choice *choice)
{
	if (method->stub)
		return;
	method->function = tpc_lookup_beside(beside, symbol);
	choice->category = "torch";
	method->stub = method->function ? tpc_op_stub(method->function, choice) : NULL;
}

static void find_methods(const void *beside)
{
	struct tpc_op_choice future = { .name = "c10d::Work::getFuture", .signature = { .op = note_future } };
	char symbol[200];

	for (size_t i = 0; i < TPC_LENGTH(rows); i++) {
		struct tpc_op_choice choice = { .signature = {
							.begun = call_begun, .ended = call_ended, .about = &rows[i] } };

		join(symbol, sizeof(symbol), CLASS, rows[i].symbol);
		join(choice.name, sizeof(choice.name), "c10d::ProcessGroupGloo::", rows[i].name);
		find_method(&methods[i], beside, symbol, &choice);
	}
	for (size_t i = 0; i < TPC_LENGTH(waits); i++) {
		struct tpc_op_choice choice = { .name = "c10d::Work::wait",
						.signature = { .begun = wait_begun, .ended = wait_ended } };

		find_method(&methods[TPC_LENGTH(rows) + i], beside, waits[i], &choice);
	}
	find_method(&methods[TPC_LENGTH(rows) + TPC_LENGTH(waits)], beside, CLASS "9AsyncWork9getFutureEv", &future);
}

/* The constructor was found in libtorch: the methods are there as well, and vtables lead to them. */
static void hook_methods(void *target)
{
	struct tpc_range range = { UINTPTR_MAX, 0 };

	find_methods(target);
	for (size_t i = 0; i < TPC_LENGTH(methods); i++) {
		uintptr_t address = (uintptr_t)methods[i].function;

		if (!address)
			continue;
		range.low = address < range.low ? address : range.low;
		range.high = address + 1 > range.high ? address + 1 : range.high;
	}
	done = refused = 0;
	if (range.high)
		tpc_pointers_each(target, range, hook_slot);
	tpc_pointers_tell(TPROF_HOOKS_DONE, done, target);
	tpc_pointers_tell(TPROF_HOOKS_PROTECTED, refused, target);
}

static bool choose_of_reducer(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
{
	if (strncmp(symbol, TPC_TORCH_REDUCER "13run_comm_hookE", sizeof(TPC_TORCH_REDUCER "13run_comm_hookE") - 1) ==
	    0) {
		signature->op = note_reducer;
		tpc_text_add(to, "c10d::Reducer::run_comm_hook");
		return true;
	}
	if (strcmp(symbol, TPC_TORCH_REDUCER "17finalize_backwardEv") != 0)
		return false;
	signature->begun = finalize_begun;
	signature->ended = finalize_ended;
	tpc_text_add(to, "c10d::Reducer::finalize_backward");
	return true;
}

bool tpc_c10d_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
{
	if (strncmp(symbol, TPC_TORCH_REDUCER, sizeof(TPC_TORCH_REDUCER) - 1) == 0)
		return choose_of_reducer(symbol, to, signature);
	if (strncmp(symbol, "_ZN4c10d11PrefixStoreC1E", 24) == 0) {
		signature->op = note_store;
		tpc_text_add(to, "c10d::PrefixStore");
		return true;
	}
	if (strncmp(symbol, CLASS "C1E", sizeof(CLASS "C1E") - 1) != 0)
		return false;
	signature->begun = make_begun;
	signature->ended = make_ended;
	signature->bound = hook_methods;
	tpc_text_add(to, "c10d::ProcessGroupGloo");
	return true;
}

void tpc_c10d_forget(void)
{
	memset(stores, 0, sizeof(stores));
	memset(buckets, 0, sizeof(buckets));
	tpc_unshared(has_world) = false;
}
