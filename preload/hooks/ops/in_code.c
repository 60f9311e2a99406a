/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/in_code.h"

#include "core/objects.h"
#include "core/text.h"
#include "hooks/link/code.h"
#include "hooks/memory/ruled.h"
#include "hooks/link/covered.h"
#include "hooks/ops/stubs.h"

#include <link.h>

#define NAMED_MAX 500u /* refusals that are named; further ones are counted */

static const char untouchable[] = "it returns twice, or belongs to the unwinder or the loader";
static const char full[] = "no room for its stub";

static const void *refused[NAMED_MAX];
static uint32_t refused_count;

bool tpc_op_is_refused(const void *function)
{
	for (uint32_t i = 0; i < refused_count; i++) {
		if (refused[i] == function)
			return true;
	}
	return false;
}

static void refuse(const struct tpc_code_function_named *function, const char *reason)
{
	const char *symbol = refused_count == NAMED_MAX ? "" : function->symbol;
	char text[4400];
	struct tpc_text to = tpc_text_in(text, sizeof(text));

	if (*symbol && !tpc_op_is_refused(function->address))
		refused[refused_count++] = function->address;
	tpc_text_add(&to, function->object);
	tpc_text_add(&to, "\n");
	tpc_text_add(&to, symbol);
	tpc_text_add(&to, "\n");
	tpc_text_add(&to, *symbol ? reason : "further ones, not named");
	tpc_covered_add(TPROF_HOOKS_REFUSED, 0, 1, text);
}

/* The name as the source has it: compilers add what they did, .constprop.0. "": a part of a function. */
static const char *plain_name(const char *symbol, char *buffer, size_t size)
{
	static const char *const parts[] = { "*.cold", "*.cold.*", "*.part.*", "_start" };
	struct tpc_text to = tpc_text_in(buffer, size);
	size_t length = strcspn(symbol, ".");

	for (size_t i = 0; i < TPC_LENGTH(parts); i++) {
		if (tpc_text_glob(parts[i], symbol))
			return "";
	}
	if (!symbol[length] || !length)
		return symbol;
	tpc_text_add_bytes(&to, symbol, length);
	return to.cut ? symbol : buffer;
}

static bool choose(const char *symbol, struct tpc_op_choice *choice)
{
	char plain[512];
	const char *name = plain_name(symbol, plain, sizeof(plain));

	choice->refused = false;
	if (!*name || !tpc_ops_asked(name))
		return false;
	return tpc_ops_choose(name, choice);
}

static bool wants(const struct tpc_code_function_named *function)
{
	struct tpc_op_choice choice;

	if (choose(function->symbol, &choice))
		return !choice.signature.unhooked && !tpc_ruled_is_hooked(function->address);
	if (choice.refused)
		refuse(function, untouchable);
	return false;
}

static void *find_stub(const struct tpc_code_function_named *function, const char **reason)
{
	struct tpc_op_choice choice;
	void *stub = NULL;

	if (choose(function->symbol, &choice))
		stub = tpc_op_code_stub(function->address, &choice);
	*reason = stub ? NULL : full;
	return stub;
}

static void withdrawn(const void *function)
{
	struct dl_find_object object;
	struct tpc_code_function_named named = { NULL, "", tpc_op_name_at(function), (void *)(uintptr_t)function };

	if (tpc_object_find((uintptr_t)function, &object))
		named.object = object.dlfo_link_map->l_name;
	refuse(&named, tpc_code_occupied);
}

static uint64_t hooked_count; /* of the object that is visited */

static void hooked(const struct tpc_code_function_named *function)
{
	(void)function;
	hooked_count++;
}

static void visited(const char *object)
{
	if (hooked_count)
		tpc_covered_add(TPROF_HOOKS_CODE, 0, hooked_count, object);
	hooked_count = 0;
}

bool tpc_ops_hook_code(const struct tpc_seen *seen, size_t from)
{
	static const struct tpc_code_visitor visitor = {
		NULL, wants, tpc_op_is_hooked, find_stub, tpc_op_moved, refuse, withdrawn, hooked, visited,
	};
	static uint64_t unloads;

	if (unloads != seen->unloads)
		tpc_op_code_forget();
	unloads = seen->unloads;
	return !tpc_ops_any_named() || tpc_code_hook(&visitor, seen, from);
}
