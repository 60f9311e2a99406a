/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/onnxruntime.h"

#include "core/state.h"
#include "core/sys.h"
#include "hooks/ops/stubs.h"

#include <link.h>

struct base { /* OrtApiBase */
	void **(*get_api)(uint32_t version);
	const char *(*get_version)(void);
};

/* Places in OrtApi, whose members are only ever added at the end. */
static const struct {
	size_t place;
	const char *name;
} functions[] = {
	{ 7, "OrtApi::CreateSession" },
	{ 8, "OrtApi::CreateSessionFromArray" },
	{ 9, "OrtApi::Run" },
};

struct place {
	uintptr_t address;
	bool relro; /* the loader made it read-only */
};

static int find_relro(struct dl_phdr_info *info, size_t size, void *context)
{
	struct place *place = context;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_GNU_RELRO &&
		    place->address - info->dlpi_addr - header->p_vaddr < header->p_memsz)
			place->relro = true;
	}
	return place->relro;
}

static void store(void **slot, void *value)
{
	struct place place = { (uintptr_t)slot, false };
	uintptr_t page = (uintptr_t)slot & ~(uintptr_t)(TP_PAGE - 1);

	dl_iterate_phdr(find_relro, &place);
	if (place.relro && tp_syscall(SYS_mprotect, page, TP_PAGE, PROT_READ | PROT_WRITE, 0) != 0)
		return;
	tp_store_release(slot, value);
	if (place.relro)
		tp_syscall(SYS_mprotect, page, TP_PAGE, PROT_READ, 0);
	tp_add(&tp_header->slots, 1);
}

static void hook(void *target)
{
	const struct base *base = ((const struct base *(*)(void))target)();
	void **api = base && base->get_api ? base->get_api(1) : NULL;

	for (size_t i = 0; api && i < TP_LENGTH(functions); i++) {
		struct tp_op_choice choice = { .category = "onnxruntime" };
		void **slot = &api[functions[i].place], *stub;

		memcpy(choice.name, functions[i].name, strlen(functions[i].name) + 1);
		stub = *slot && !tp_op_is_stub(*slot) ? tp_op_stub(*slot, &choice) : NULL;
		if (stub)
			store(slot, stub);
	}
}

bool tp_onnxruntime_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	if (strcmp(symbol, "OrtGetApiBase") != 0)
		return false;
	signature->bound = hook;
	signature->unhooked = true;
	tp_text_add(to, symbol);
	return true;
}
