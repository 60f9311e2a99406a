/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a primitive is, is asked of the library when it was made, or at its first call, and kept by its address until it is
 * destroyed.
 */
#include "hooks/ops/onednn.h"

#include "core/space.h"
#include "hooks/ops/names.h"
#include "hooks/ops/onednn_work.h"

#define SETS 2048u
#define WAYS 4u

/* The addresses beside each other: a primitive that is made or destroyed is looked for in one cache line. */
struct set {
	uintptr_t addresses[WAYS]; /* 0: free, or being written */
	struct {
		uint32_t op;
		struct tp_work work;
	} primitives[WAYS];
} __attribute__((aligned(64)));

static struct set *sets;
static uint32_t turn;

static struct set *set_of(struct set *all, uintptr_t address)
{
	return &all[(uint64_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 53];
}

/* The copy is good if the address is the same after it. */
static bool find(uintptr_t address, uint32_t *op, struct tp_work *work)
{
	struct set *all = tp_load_acquire(&sets), *set = all ? set_of(all, address) : NULL;

	for (size_t i = 0; set && i < WAYS; i++) {
		if (tp_load_acquire(&set->addresses[i]) != address)
			continue;
		*op = set->primitives[i].op;
		*work = set->primitives[i].work;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		return tp_load(&set->addresses[i]) == address;
	}
	return false;
}

static void forget(uintptr_t address)
{
	struct set *all = tp_load_acquire(&sets), *set = all ? set_of(all, address) : NULL;

	for (size_t i = 0; set && i < WAYS; i++) {
		if (tp_load(&set->addresses[i]) == address)
			tp_swap_if(&set->addresses[i], address, (uintptr_t)0);
	}
}

static struct set *make_sets(void)
{
	struct set *made = tp_space_take(SETS * sizeof(*made));

	if (made && !tp_swap_if(&sets, (struct set *)NULL, made))
		tp_space_give_back(made, SETS * sizeof(*made)); /* another thread was first */
	return tp_load_acquire(&sets);
}

/* A free place, or that of one which will be asked about again. */
static uint32_t choose_place(const struct set *set)
{
	for (uint32_t i = 0; i < WAYS; i++) {
		if (!tp_load(&set->addresses[i]))
			return i;
	}
	return tp_add(&turn, 1) % WAYS;
}

static void keep(uintptr_t address, uint32_t op, const struct tp_work *work)
{
	struct set *all = tp_load_acquire(&sets), *set;
	uint32_t place;

	if (!all && !(all = make_sets()))
		return;
	set = set_of(all, address);
	place = choose_place(set);
	tp_store(&set->addresses[place], (uintptr_t)0);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	set->primitives[place].op = op;
	set->primitives[place].work = *work;
	tp_store_release(&set->addresses[place], address); /* pairs with find(): the rest is there */
}

static void add_implementation(struct tp_text *text, const char *implementation)
{
	tp_text_add(text, " [");
	tp_text_add(text, implementation);
	tp_text_add(text, "]");
}

/* Asks the library. Not where vector registers must be left alone. */
static uint32_t look_at(const void *primitive, struct tp_work *work)
{
	struct tp_onednn_primitive said;
	struct tp_text text;
	char name[160];
	uint32_t op;

	memset(work, 0, sizeof(*work));
	if (!tp_onednn_ask(primitive, &said))
		return 0;
	text = tp_text_in(name, sizeof(name));
	tp_text_add(&text, said.name);
	if (said.propagation >= TP_ONEDNN_BACKWARD) {
		tp_text_add(&text, said.propagation == TP_ONEDNN_BACKWARD_WEIGHTS ? "_backward_weights"
				   : said.propagation == TP_ONEDNN_BACKWARD_DATA  ? "_backward_data"
										  : "_backward");
		work->flags = said.propagation == TP_ONEDNN_BACKWARD_WEIGHTS ? TPROF_WORK_WEIGHTS : TPROF_WORK_BACKWARD;
	}
	if (said.implementation)
		add_implementation(&text, said.implementation);
	if (!tp_onednn_describe(work, said.descriptor, said.kind) || !work->dtype)
		work->kind = 0;
	op = tp_op_number(name, "onednn", TPROF_OP_FUNCTION);
	if (op)
		keep((uintptr_t)primitive, op, work);
	return op;
}

/* ---- the hooks ---- */

static uint32_t execute_op(const uintptr_t *frame, bool may_write)
{
	uintptr_t primitive = tp_argument(frame, 0);
	struct tp_work work;
	uint32_t op;

	if (find(primitive, &op, &work))
		return op;
	return may_write && primitive ? look_at((const void *)primitive, &work) : 0;
}

/* The op's number was found just before. */
static bool execute_read(const uintptr_t *frame, struct tp_work *work)
{
	struct tp_work found;
	uint32_t op;

	if (!find(tp_argument(frame, 0), &op, &found) || !found.kind)
		return false;
	*work = found;
	return true;
}

/* dnnl_primitive_create(primitive **, descriptor): the primitive is there now. */
static void created(const uintptr_t *frame)
{
	void *const *primitive = (void *const *)tp_argument(frame, 0);
	struct tp_work work;

	if (!primitive || !*primitive)
		return;
	forget((uintptr_t)*primitive);
	look_at(*primitive, &work);
}

static uint32_t destroy_op(const uintptr_t *frame, bool may_write)
{
	(void)may_write;
	forget(tp_argument(frame, 0));
	return TP_OP_SILENT;
}

bool tp_onednn_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	if (strncmp(symbol, "dnnl_primitive_", 15) != 0)
		return false;
	if (strcmp(symbol, "dnnl_primitive_execute") == 0) {
		signature->bound = tp_onednn_find;
		signature->op = execute_op;
		signature->kind = TPROF_WORK_KINDS; /* whichever execute_read() says */
		signature->read = execute_read;
	} else if (strncmp(symbol, "dnnl_primitive_create", 21) == 0) {
		signature->bound = tp_onednn_find;
		signature->after = created;
	} else if (strcmp(symbol, "dnnl_primitive_destroy") == 0) {
		signature->op = destroy_op;
	} else {
		return false;
	}
	tp_text_add(to, symbol);
	return true;
}

void tp_onednn_forget(void)
{
	if (sets)
		tp_space_give_back(sets, SETS * sizeof(*sets));
	sets = NULL;
}
