/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/presets.h"

#include "core/objects.h"
#include "core/state.h"
#include "core/sys.h"
#include "hooks/link/covered.h"
#include "hooks/ops/stubs.h"

#include <link.h>

struct base { /* OrtApiBase */
	void **(*get_api)(uint32_t version);
	const char *(*get_version)(void);
};

/* Indices in OrtApi, whose members are only ever added at the end; and the version, 1.x, that added each. */
static const struct {
	size_t place;
	uint32_t version;
	const char *name;
} functions[] = {
	{ 7, 1, "OrtApi::CreateSession" },
	{ 8, 1, "OrtApi::CreateSessionFromArray" },
	{ 9, 1, "OrtApi::Run" },
	{ 48, 1, "OrtApi::CreateTensorAsOrtValue" },
	{ 75, 1, "OrtApi::AllocatorAlloc" },
	{ 76, 1, "OrtApi::AllocatorFree" },
	{ 131, 5, "OrtApi::CreateAllocator" },
	{ 133, 5, "OrtApi::RunWithBinding" },
	{ 168, 8, "OrtApi::CreateSessionWithPrepackedWeightsContainer" },
	{ 169, 8, "OrtApi::CreateSessionFromArrayWithPrepackedWeightsContainer" },
	{ 260, 16, "OrtApi::RunAsync (enqueueing)" }, /* the run itself is in a thread of the library */
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

static bool store(void **slot, void *value)
{
	struct place place = { (uintptr_t)slot, false };
	uintptr_t page = (uintptr_t)slot & ~(uintptr_t)(TPC_PAGE - 1);

	dl_iterate_phdr(find_relro, &place);
	if (place.relro && tpc_syscall(SYS_mprotect, page, TPC_PAGE, PROT_READ | PROT_WRITE, 0) != 0)
		return false;
	tpc_store_release(slot, value); /* pairs with calls through it: the stub is there */
	if (place.relro)
		tpc_syscall(SYS_mprotect, page, TPC_PAGE, PROT_READ, 0);
	tpc_add(&tpc_header->slots, 1);
	return true;
}

/* Adds to the coverage for that many pointers of the library's table. */
static void tell(enum tprof_hooks state, uint64_t pointers, void *target)
{
	struct dl_find_object object;

	if (pointers && tpc_object_find((uintptr_t)target, &object))
		tpc_covered_add(state, pointers, pointers, object.dlfo_link_map->l_name);
}

/* 17 for "1.17.3": the table has that version. Asking for a newer version prints a message to stderr. */
static uint64_t version_of(const struct base *base)
{
	const char *version = base->get_version ? base->get_version() : NULL;
	uint64_t major, minor;

	if (!version || !tpc_text_number(&version, &major) || major != 1 || *version++ != '.' ||
	    !tpc_text_number(&version, &minor))
		return 1;
	return minor;
}

static void hook(void *target)
{
	const struct base *base = ((const struct base *(*)(void))target)();
	void **api = base && base->get_api ? base->get_api(1) : NULL;
	uint64_t version = api ? version_of(base) : 0, done = 0, refused = 0;

	for (size_t i = 0; i < TPC_LENGTH(functions); i++) {
		struct tpc_op_choice choice = { .category = "onnxruntime" };
		void **slot, *stub;

		if (version < functions[i].version)
			continue;
		slot = &api[functions[i].place];
		memcpy(choice.name, functions[i].name, strlen(functions[i].name) + 1);
		stub = *slot && !tpc_op_is_stub(*slot) ? tpc_op_stub(*slot, &choice) : NULL;
		if (stub && store(slot, stub))
			done++;
		else if (stub)
			refused++;
	}
	tell(TPROF_HOOKS_DONE, done, target);
	tell(TPROF_HOOKS_PROTECTED, refused, target);
}

bool tpc_onnxruntime_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
{
	if (strcmp(symbol, "OrtGetApiBase") != 0)
		return false;
	signature->bound = hook;
	signature->unhooked = true;
	tpc_text_add(to, symbol);
	return true;
}
