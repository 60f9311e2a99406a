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

struct primitive {
	uintptr_t address; /* 0: free, or being written */
	uint32_t op;
	struct tp_work work;
};

static struct primitive *primitives;
static uint32_t turn;

static struct primitive *set_of(struct primitive *all, uintptr_t address)
{
	return &all[((uint64_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 53) * WAYS];
}

/* The copy is good if the address is the same after it. */
static bool find(uintptr_t address, uint32_t *op, struct tp_work *work)
{
	struct primitive *all = tp_load_acquire(&primitives), *set = all ? set_of(all, address) : NULL;

	for (size_t i = 0; set && i < WAYS; i++) {
		if (tp_load_acquire(&set[i].address) != address)
			continue;
		*op = set[i].op;
		*work = set[i].work;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		return tp_load(&set[i].address) == address;
	}
	return false;
}

static void forget(uintptr_t address)
{
	struct primitive *all = tp_load_acquire(&primitives), *set = all ? set_of(all, address) : NULL;

	for (size_t i = 0; set && i < WAYS; i++)
		tp_swap_if(&set[i].address, address, (uintptr_t)0);
}

static void keep(uintptr_t address, uint32_t op, const struct tp_work *work)
{
	struct primitive *all = tp_load_acquire(&primitives), *at, *made;

	if (!all) {
		made = tp_space_take(SETS * WAYS * sizeof(*made));
		if (made && !tp_swap_if(&primitives, (struct primitive *)NULL, made))
			tp_space_give_back(made, SETS * WAYS * sizeof(*made)); /* another thread was first */
		all = tp_load_acquire(&primitives);
	}
	if (!all)
		return;
	at = set_of(all, address);
	for (size_t i = 0; i < WAYS; i++) {
		if (!tp_load(&at[i].address)) {
			at = &at[i];
			break;
		}
		if (i + 1 == WAYS)
			at = &at[tp_add(&turn, 1) % WAYS]; /* one that will be asked about again */
	}
	tp_store(&at->address, (uintptr_t)0);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	at->op = op;
	at->work = *work;
	tp_store_release(&at->address, address); /* pairs with find(): the rest is there */
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
	if (primitives)
		tp_space_give_back(primitives, SETS * WAYS * sizeof(*primitives));
	primitives = NULL;
}
