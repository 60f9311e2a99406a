/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/memory/ruled.h"

#include "arch/arch.h"
#include "core/config.h"
#include "core/lookup.h"
#include "core/objects.h"
#include "core/state.h"
#include "core/text.h"
#include "hooks/link/code.h"
#include "hooks/link/covered.h"
#include "hooks/link/real.h"

#include <link.h>

#define HOMES_MAX 64u
#define OWN "malloc" /* in known.rules: the malloc that takes the place of libtprof.so's */

struct tpc_ruled_function tpc_ruled_functions[TPC_RULED_MAX];
static uint32_t function_count;
static struct tpc_ruled_home homes[HOMES_MAX];
static uint32_t home_count;

static const char full[] = "no room for its stub";
static const char variant[] = "the compiler changed its arguments";

bool tpc_ruled_is_hooked(const void *function)
{
	for (uint32_t i = 0; i < function_count; i++) {
		if (tpc_ruled_functions[i].entry == function)
			return true;
	}
	return false;
}

/* ---- allocators in objects ---- */

/* NULL: no room. */
static struct tpc_ruled_home *home_of(const char *object, uint32_t allocator)
{
	struct tpc_text to;

	for (uint32_t i = 0; i < home_count; i++) {
		if (homes[i].allocator == allocator && strcmp(homes[i].object, object) == 0)
			return &homes[i];
	}
	if (home_count == HOMES_MAX)
		return NULL;
	to = tpc_text_in(homes[home_count].object, sizeof(homes[home_count].object));
	tpc_text_add(&to, object);
	homes[home_count].allocator = (uint8_t)allocator;
	return &homes[home_count++];
}

static bool is_own(uint32_t allocator)
{
	return tpc_alloc_rule_allocator(allocator)->builtin &&
	       strcmp(tpc_alloc_rule_allocator(allocator)->name, OWN) == 0;
}

static void tell(const struct tpc_ruled_home *home, enum tprof_hooks state, uint64_t functions, const char *reason)
{
	char text[1024];
	struct tpc_text to = tpc_text_in(text, sizeof(text));

	tpc_text_add(&to, home->object);
	tpc_text_add(&to, "\n");
	tpc_text_add(&to, tpc_alloc_rule_allocator(home->allocator)->name);
	tpc_text_add(&to, "\n");
	tpc_text_add(&to, reason);
	tpc_covered_add(state, 0, functions, text);
}

static uint32_t own_allocator(void)
{
	uint32_t i = 0;

	while (!is_own(i))
		i++;
	return i;
}

/* ---- which objects ---- */

static bool is_in(const struct dl_phdr_info *info, const void *address)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD &&
		    (uintptr_t)address - info->dlpi_addr - header->p_vaddr < header->p_memsz)
			return true;
	}
	return false;
}

static bool is_exported(const char *symbol, void *info)
{
	struct tpc_lookup_found found;

	return tpc_lookup_in(info, symbol, &found);
}

/* Distributions strip their libraries: what is not exported has no symbol there. */
static bool is_distributed(const char *path)
{
	return tpc_text_glob("/usr/lib*", path) || tpc_text_glob("/lib*", path);
}

/* Its own malloc is behind the hooks: calls of its other functions would cost twice, and be counted once. */
static bool searches(const struct dl_phdr_info *info)
{
	if (is_in(info, (const void *)(uintptr_t)tpc_real.malloc))
		return false;
	return tpc_rules_given() || !is_distributed(info->dlpi_name ? info->dlpi_name : "") ||
	       tpc_rules_any(is_exported, (void *)(uintptr_t)info);
}

static bool is_first_malloc(const struct dl_phdr_info *info)
{
	return tpc_header && tpc_header->flags & TPROF_FLAG_FOREIGN_MALLOC && is_in(info, tpc_lookup_first("malloc"));
}

/* ---- their functions ---- */

/*
 * Compilers make variants of functions that are not exported: with other arguments, or without their first lines, which they put
 * into the callers. NULL: it is none.
 */
static const struct tpc_alloc_rule *varied(const char *symbol)
{
	static const char *const variants[] = { "*.isra.*", "*.constprop.*", "*.part.*" };
	char plain[256];
	struct tpc_text to = tpc_text_in(plain, sizeof(plain));

	for (size_t i = 0; i < TPC_LENGTH(variants); i++) {
		if (!tpc_text_glob(variants[i], symbol) || tpc_text_glob("*.cold*", symbol))
			continue;
		tpc_text_add_bytes(&to, symbol, strcspn(symbol, "."));
		return tpc_alloc_rule_find(plain);
	}
	return NULL;
}

/* The malloc of the program may be a second name of a function with a name of its own: they are one allocator. */
static struct tpc_ruled_home *home_for(const struct tpc_code_function_named *function,
				       const struct tpc_alloc_rule *rule)
{
	bool own = tpc_alloc_rule_allocator(rule->allocator)->builtin && is_first_malloc(function->info);

	return home_of(function->object, own ? own_allocator() : rule->allocator);
}

static void refuse(const struct tpc_code_function_named *function, const char *why)
{
	const struct tpc_alloc_rule *whole = tpc_alloc_rule_find(function->symbol);
	const struct tpc_alloc_rule *rule = whole ? whole : varied(function->symbol);
	struct tpc_ruled_home *home = rule ? home_for(function, rule) : NULL;
	char text[512];
	struct tpc_text to = tpc_text_in(text, sizeof(text));

	if (!home || tpc_load(&home->off))
		return;
	tpc_text_add(&to, function->symbol);
	tpc_text_add(&to, ": ");
	tpc_text_add(&to, why);
	tpc_store(&home->off, rule->kind == TPC_RULE_FREE || rule->kind == TPC_RULE_REALLOC);
	tell(home, tpc_load(&home->off) ? TPROF_HOOKS_UNRULED : TPROF_HOOKS_PART_RULED, 1, text);
}

static bool wants(const struct tpc_code_function_named *function)
{
	const struct tpc_alloc_rule *rule = tpc_alloc_rule_find(function->symbol);

	if (!rule && varied(function->symbol))
		refuse(function, variant);
	return rule && (!is_own(rule->allocator) || is_first_malloc(function->info));
}

static void *find_stub(const struct tpc_code_function_named *function, const char **reason)
{
	const struct tpc_alloc_rule *rule = tpc_alloc_rule_find(function->symbol);
	struct tpc_ruled_home *home = rule ? home_for(function, rule) : NULL;

	*reason = home && function_count < TPC_RULED_MAX ? NULL : full;
	if (*reason)
		return NULL;
	tpc_ruled_functions[function_count] =
		(struct tpc_ruled_function){ .rule = *rule, .entry = function->address, .home = home };
	return (void *)(uintptr_t)(tpc_ruled_stubs + TPC_RULED_STUB * function_count++);
}

static void moved(void *stub, void *to)
{
	tpc_ruled_functions[((uintptr_t)stub - (uintptr_t)tpc_ruled_stubs) / TPC_RULED_STUB].moved = to;
}

static void withdrawn(const void *function)
{
	for (uint32_t i = 0; i < function_count; i++) {
		const struct tpc_ruled_function *it = &tpc_ruled_functions[i];
		struct tpc_ruled_home *home = it->home;
		bool ends = it->rule.kind == TPC_RULE_FREE || it->rule.kind == TPC_RULE_REALLOC;

		if (it->entry != function || tpc_load(&home->off))
			continue;
		tpc_store(&home->off, ends);
		tell(home, ends ? TPROF_HOOKS_UNRULED : TPROF_HOOKS_PART_RULED, 1, tpc_code_occupied);
	}
}

static void hooked(const struct tpc_code_function_named *function)
{
	home_for(function, tpc_alloc_rule_find(function->symbol))->hooked++;
}

static void visited(const char *object)
{
	for (uint32_t i = 0; i < home_count; i++) {
		struct tpc_ruled_home *home = &homes[i];

		if (strcmp(home->object, object) != 0 || !home->hooked)
			continue;
		if (!tpc_load(&home->off) && is_own(home->allocator))
			tpc_clear_bits_release(&tpc_header->flags, (uint32_t)TPROF_FLAG_FOREIGN_MALLOC);
		if (!tpc_load(&home->off))
			tell(home, TPROF_HOOKS_RULED, home->hooked, "");
		home->hooked = 0;
	}
}

/* Objects were unloaded: others may be where their functions were. */
static void forget_unloaded(void)
{
	struct dl_find_object object;

	for (uint32_t i = 0; i < function_count; i++) {
		struct tpc_ruled_function *function = &tpc_ruled_functions[i];

		if (function->entry &&
		    !(tpc_object_find((uintptr_t)function->entry, &object) &&
		      tpc_code_is_patched(function->entry, (uintptr_t)function->moved - TPC_CODE_MOVED_AT)))
			function->entry = NULL;
	}
}

bool tpc_ruled_hook(const struct tpc_seen *seen, size_t from)
{
	static const struct tpc_code_visitor visitor = { searches,  wants,  tpc_ruled_is_hooked,
							 find_stub, moved,  refuse,
							 withdrawn, hooked, visited };
	static uint64_t unloads;

	if (unloads != seen->unloads)
		forget_unloaded();
	unloads = seen->unloads;
	return tpc_config.alloc == TPC_ALLOC_OFF || tpc_code_hook(&visitor, seen, from);
}
