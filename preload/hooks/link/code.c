/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/code.h"

#include "core/maps.h"
#include "core/sys.h"
#include "core/text.h"
#include "hooks/link/loader.h"
#include "hooks/link/patch.h"
#include "hooks/link/pending.h"
#include "hooks/link/real.h"
#include "hooks/link/symtab.h"

#include <link.h>

#define FUNCTIONS_MAX 2048u /* of one object */

static struct tpc_code_decoder decoder;
static enum { UNTRIED, LOADED, MISSING } loading;

static const char missing[] = "no decoder: libZydis.so.4.0 (Debian: libzydis4.0) is not installed";
static const char threads[] = "other threads run already";
const char tpc_code_occupied[] = "the program is in its first instructions just now";
static const char many[] = "it is one of more than 2,048 that are wanted in this object";

/* ---- the decoder ---- */

static void *find_in(void *library, const char *name)
{
	return tpc_real.dlsym(library, name);
}

void tpc_code_load(void)
{
	void *library;

	if (loading != UNTRIED)
		return;
	library = tpc_loader_open(tpc_code_decoder_library);
	loading = library && tpc_code_decoder_set(&decoder, find_in, library) ? LOADED : MISSING;
}

/* ---- the process ---- */

static bool read_threads(char *line, void *data)
{
	const char *at = line + sizeof("Threads:");

	if (!tpc_text_glob("Threads:*", line))
		return false;
	while (*at == ' ' || *at == '\t')
		at++;
	tpc_text_number(&at, data);
	return true;
}

/* By number: another process may read the file for this one. */
static bool is_alone(void)
{
	uint64_t count = 0;
	char line[256], path[64];
	struct tpc_text to = tpc_text_in(path, sizeof(path));

	tpc_text_add(&to, "/proc/");
	tpc_text_add_number(&to, tpc_sys_getpid());
	tpc_text_add(&to, "/status");
	return tpc_lines_each(path, line, sizeof(line), read_threads, &count) && count == 1;
}

/* ---- an object ---- */

struct work {
	const struct tpc_code_visitor *visitor;
	const struct dl_phdr_info *info;
	const char *path;
	struct tpc_symtab table;
	struct tpc_range code;
	struct tpc_target *targets; /* by numbers of their symbols */
	uint32_t count;
	bool wanted; /* some, in any segment, */
	bool again;  /* or hooked before */
	bool left;   /* the decoder is needed first */
};

static void *address_of(const struct work *work, uint32_t i)
{
	return (void *)(work->info->dlpi_addr + work->table.symbols[i].st_value);
}

static struct tpc_code_function_named named(const struct work *work, uint32_t symbol)
{
	return (struct tpc_code_function_named){ work->info, work->path, tpc_symtab_name(&work->table, symbol),
						 address_of(work, symbol) };
}

static void refuse(const struct work *work, uint32_t symbol, const char *reason)
{
	struct tpc_code_function_named function = named(work, symbol);

	work->visitor->refused(&function, reason);
}

/*
 * libc and the unwinder run in our hooks too, and a sanitizer's functions before all else; what these export is hooked by
 * pointers.
 */
static bool is_searched(const char *path)
{
	static const char *const names[] = { "libc.so*",	"libc-*.so",	"ld-*.so*",	 "ld.so*",
					     "libpthread*.so*", "libgcc_s.so*", "libdl*.so*",	 "lib?san.so*",
					     "libZydis*",	"linux-vdso*",	"libtprof*.so*", "libunwind*.so*" };

	for (size_t i = 0; i < TPC_LENGTH(names); i++) {
		if (tpc_text_glob(names[i], tpc_text_base(path)))
			return false;
	}
	return true;
}

static bool is_listed(const struct work *work, uint32_t symbol)
{
	for (uint32_t i = 0; i < work->count; i++) {
		if (work->targets[i].function.at == (uintptr_t)address_of(work, symbol))
			return true;
	}
	return false;
}

/* It was patched when `tprof attach` came before; the stub is still there. */
static void hook_again(struct work *work, const struct tpc_code_function_named *function)
{
	if (!tpc_pending_is_on() || !tpc_pending_again((uintptr_t)function->address))
		return;
	work->visitor->hooked(function);
	work->again = true;
}

static void list_function(struct work *work, uint32_t i)
{
	struct tpc_code_function_named function = named(work, i);

	if (!tpc_symtab_is_function(&work->table, i) || !tpc_range_holds(work->code, (uintptr_t)function.address) ||
	    work->table.symbols[i].st_size > work->code.high - (uintptr_t)function.address)
		return;
	if (!work->visitor->wants(&function) || is_listed(work, i))
		return;
	if (work->visitor->has(function.address)) {
		hook_again(work, &function);
		return;
	}
	if (work->count < FUNCTIONS_MAX)
		work->targets[work->count++] =
			(struct tpc_target){ .function = { function.address, work->table.symbols[i].st_size, 0,
							   (uintptr_t)function.address },
					     .number = i };
	else
		refuse(work, i, many);
}

/* ---- its functions ---- */

static void *find_stub(const struct tpc_target *target, const char **reason, void *context)
{
	const struct work *work = context;
	struct tpc_code_function_named function = named(work, target->number);

	/* cppcheck-suppress returnDanglingLifetime ; a stub does not lie in what is said of the function */
	return work->visitor->stub(&function, reason);
}

/* Shell's sort, by address. */
static void sort(struct tpc_target *targets, uint32_t count)
{
	static const uint32_t gaps[] = { 701, 301, 132, 57, 23, 10, 4, 1 };

	for (size_t g = 0; g < TPC_LENGTH(gaps); g++) {
		for (uint32_t i = gaps[g]; i < count; i++) {
			struct tpc_target it = targets[i];
			uint32_t k = i;

			for (; k >= gaps[g] && targets[k - gaps[g]].function.at > it.function.at; k -= gaps[g])
				targets[k] = targets[k - gaps[g]];
			targets[k] = it;
		}
	}
}

/* The last target that begins below the address; NULL: none. */
static struct tpc_target *last_below(const struct work *work, uintptr_t address)
{
	uint32_t low = 0, high = work->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (work->targets[middle].function.at < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &work->targets[low - 1] : NULL;
}

/* How far each function may reach: to the next symbol. */
static void find_rooms(struct work *work)
{
	for (uint32_t i = 0; i < work->count; i++)
		work->targets[i].function.room = work->code.high - work->targets[i].function.at;
	for (size_t i = 0; i < work->table.count; i++) {
		uintptr_t at = (uintptr_t)address_of(work, (uint32_t)i);
		struct tpc_target *target = tpc_symtab_is_code(&work->table, i) ? last_below(work, at) : NULL;

		if (target && at - target->function.at < target->function.room)
			target->function.room = at - target->function.at;
	}
}

static void hook_listed(struct work *work)
{
	struct tpc_patcher patcher = { &decoder, find_stub, work->visitor->moved, work, work->visitor->withdrawn };
	const char *reason = NULL;

	if (loading == MISSING)
		reason = missing;
	else if (!tpc_pending_is_on() && !is_alone())
		reason = threads;
	for (uint32_t i = 0; i < work->count; i++)
		work->targets[i].reason = reason;
	if (!reason) {
		sort(work->targets, work->count);
		find_rooms(work);
		tpc_patch(&patcher, work->code, work->targets, work->count);
	}
	for (uint32_t i = 0; i < work->count; i++) {
		struct tpc_code_function_named function = named(work, work->targets[i].number);

		if (work->targets[i].reason)
			work->visitor->refused(&function, work->targets[i].reason);
		else
			work->visitor->hooked(&function);
	}
}

static void look_for_functions(struct work *work)
{
	size_t bytes = FUNCTIONS_MAX * sizeof(*work->targets);
	void *list = tpc_sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (tpc_sys_failed(list))
		return;
	work->targets = list;
	for (size_t i = 0; i < work->table.count; i++)
		list_function(work, (uint32_t)i);
	work->wanted |= work->count > 0;
	work->left = work->count && loading == UNTRIED;
	if (work->count && !work->left)
		hook_listed(work);
	tpc_sys_munmap(list, bytes);
}

struct search {
	const struct tpc_code_visitor *visitor;
	bool left;
};

/* Each segment of its code by itself. */
static void look_at_object(const struct dl_phdr_info *info, void *context)
{
	struct search *search = context;
	struct work work = { .visitor = search->visitor, .info = info, .path = info->dlpi_name ? info->dlpi_name : "" };

	if (!is_searched(work.path) || (search->visitor->searches && !search->visitor->searches(info)) ||
	    !tpc_symtab_open(info, &work.table))
		return;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		work.code = (struct tpc_range){ start, start + header->p_filesz };
		work.count = 0;
		look_for_functions(&work);
		search->left |= work.left;
	}
	if ((work.wanted || work.again) && !work.left)
		work.visitor->visited(work.path);
	tpc_symtab_close(&work.table);
}

bool tpc_code_hook(const struct tpc_code_visitor *visitor, const struct tpc_seen *seen, size_t from)
{
	struct search search = { visitor, false };

	tpc_slots_objects(seen, from, look_at_object, &search);
	return !search.left;
}
