/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/presets.h"

#include "hooks/ops/presets/pointers.h"
#include "hooks/ops/stubs.h"

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
		if (stub && tpc_pointer_store(slot, stub))
			done++;
		else if (stub)
			refused++;
	}
	tpc_pointers_tell(TPROF_HOOKS_DONE, done, target);
	tpc_pointers_tell(TPROF_HOOKS_PROTECTED, refused, target);
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
