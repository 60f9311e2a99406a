/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the library what a primitive is when it was created, or at its first call, and keeps the answer by its address
 * until it is destroyed.
 */
#include "hooks/ops/presets/presets.h"

#include "core/space.h"
#include "hooks/ops/names.h"
#include "hooks/ops/presets/onednn_work.h"

#define SETS 2048u
#define WAYS 4u

struct primitive {
	uint32_t op;
	struct tpc_work work;
};

/*
 * The addresses of all sets are together, in 16 pages. If they were among the data of the primitives, each one that is
 * created or destroyed would touch a page of its own out of 256, which is no longer in the processor's caches in a
 * training step.
 */
struct known {
	tpc_shared_address addresses[SETS][WAYS]; /* 0: free, or being written */
	struct primitive primitives[SETS][WAYS];
};

static TPC_SHARED(struct known *) known; /* make_known() pairs with the loads that acquire */
static tpc_shared_u32 turn;

static size_t set_of(uintptr_t address)
{
	return (uint64_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 53;
}

/* The copy is valid if the address is the same after it. */
static bool find(uintptr_t address, uint32_t *op, struct tpc_work *work)
{
	struct known *all = tpc_load_acquire(&known);
	size_t set = set_of(address);

	for (size_t i = 0; all && i < WAYS; i++) {
		if (tpc_load_acquire(&all->addresses[set][i]) != address)
			continue;
		*op = all->primitives[set][i].op;
		*work = all->primitives[set][i].work;
		__atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with keep()'s fence */
		return tpc_load(&all->addresses[set][i]) == address;
	}
	return false;
}

static void forget(uintptr_t address)
{
	struct known *all = tpc_load_acquire(&known);
	tpc_shared_address *addresses = all ? all->addresses[set_of(address)] : NULL;

	for (size_t i = 0; addresses && i < WAYS; i++) {
		if (tpc_load(&addresses[i]) == address)
			tpc_swap_if(&addresses[i], address, 0);
	}
}

static struct known *make_known(void)
{
	struct known *made = tpc_space_take(sizeof(*made));

	if (made && !tpc_swap_if(&known, NULL, made))
		tpc_space_give_back(made, sizeof(*made)); /* another thread was first */
	return tpc_load_acquire(&known);
}

/* A free place, or one whose primitive will be asked about again. */
static uint32_t choose_place(const tpc_shared_address *addresses)
{
	for (uint32_t i = 0; i < WAYS; i++) {
		if (!tpc_load(&addresses[i]))
			return i;
	}
	return tpc_add(&turn, 1) % WAYS;
}

static void keep(uintptr_t address, uint32_t op, const struct tpc_work *work)
{
	struct known *all = tpc_load_acquire(&known);
	size_t set = set_of(address);
	uint32_t place;

	if (!all && !(all = make_known()))
		return;
	place = choose_place(all->addresses[set]);
	tpc_store(&all->addresses[set][place], 0);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* pairs with find()'s: a copy of what follows is invalid */
	all->primitives[set][place].op = op;
	all->primitives[set][place].work = *work;
	tpc_store_release(&all->addresses[set][place], address); /* pairs with find(): the rest is there */
}

static void add_implementation(struct tpc_text *text, const char *implementation)
{
	tpc_text_add(text, " [");
	tpc_text_add(text, implementation);
	tpc_text_add(text, "]");
}

/* Asks the library. Not where vector registers must be left alone. */
static uint32_t look_at(const void *primitive, struct tpc_work *work)
{
	struct tpc_onednn_primitive said;
	struct tpc_text text;
	char name[160];
	uint32_t op;

	memset(work, 0, sizeof(*work));
	if (!tpc_onednn_ask(primitive, &said))
		return 0;
	text = tpc_text_in(name, sizeof(name));
	tpc_text_add(&text, said.name);
	if (said.propagation >= TPC_ONEDNN_BACKWARD) {
		tpc_text_add(&text, said.propagation == TPC_ONEDNN_BACKWARD_WEIGHTS ? "_backward_weights"
				    : said.propagation == TPC_ONEDNN_BACKWARD_DATA  ? "_backward_data"
										    : "_backward");
		work->flags =
			said.propagation == TPC_ONEDNN_BACKWARD_WEIGHTS ? TPROF_WORK_WEIGHTS : TPROF_WORK_BACKWARD;
	}
	if (said.implementation)
		add_implementation(&text, said.implementation);
	if (!tpc_onednn_describe(work, said.descriptor, said.kind) || !work->dtype)
		work->kind = 0;
	op = tpc_op_number(name, "onednn", TPROF_OP_FUNCTION);
	if (op)
		keep((uintptr_t)primitive, op, work);
	return op;
}

/* ---- the hooks ---- */

static uint32_t execute_op(const uintptr_t *frame, bool may_write)
{
	uintptr_t primitive = tpc_argument(frame, 0);
	struct tpc_work work;
	uint32_t op;

	if (find(primitive, &op, &work))
		return op;
	return may_write && primitive ? look_at((const void *)primitive, &work) : 0;
}

/* The op's number was just found. */
static bool execute_read(const uintptr_t *frame, struct tpc_work *work)
{
	struct tpc_work found;
	uint32_t op;

	if (!find(tpc_argument(frame, 0), &op, &found) || !found.kind)
		return false;
	*work = found;
	return true;
}

/* dnnl_primitive_create(primitive **, descriptor): the primitive exists now. */
static void created(const uintptr_t *frame)
{
	void *const *primitive = (void *const *)tpc_argument(frame, 0);
	struct tpc_work work;

	if (!primitive || !*primitive)
		return;
	forget((uintptr_t)*primitive);
	look_at(*primitive, &work);
}

static uint32_t destroy_op(const uintptr_t *frame, bool may_write)
{
	(void)may_write;
	forget(tpc_argument(frame, 0));
	return TPC_OP_SILENT;
}

bool tpc_onednn_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
{
	if (strncmp(symbol, "dnnl_primitive_", 15) != 0)
		return false;
	if (strcmp(symbol, "dnnl_primitive_execute") == 0) {
		signature->bound = tpc_onednn_find;
		signature->op = execute_op;
		signature->kind = TPROF_WORK_KINDS; /* any: execute_read() tells which */
		signature->read = execute_read;
	} else if (strncmp(symbol, "dnnl_primitive_create", 21) == 0) {
		signature->bound = tpc_onednn_find;
		signature->after = created;
	} else if (strcmp(symbol, "dnnl_primitive_destroy") == 0) {
		signature->op = destroy_op;
	} else {
		return false;
	}
	tpc_text_add(to, symbol);
	return true;
}

void tpc_onednn_forget(void)
{
	if (tpc_unshared(known))
		tpc_space_give_back(tpc_unshared(known), sizeof(struct known));
	tpc_unshared(known) = NULL;
}
