/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/code.h"

#include "core/maps.h"
#include "core/space.h"
#include "core/sys.h"
#include "core/text.h"
#include "hooks/link/near.h"
#include "hooks/link/real.h"
#include "hooks/link/symtab.h"
#include "hooks/ops/covered.h"
#include "hooks/ops/stubs.h"
#include "stacks/moved.h"

#include <dlfcn.h>
#include <link.h>

#define FUNCTIONS_MAX 2048u	/* of one object */
#define NAMED_MAX 500u		/* refusals that are named; further ones are counted */
#define GET_SHADOW_STACK 0x5005 /* arch_prctl(ARCH_SHSTK_STATUS), Linux 6.6 */

static struct tpc_code_decoder decoder;
static enum { UNTRIED, LOADED, MISSING } loading;

static const char missing[] = "no decoder: libZydis.so.4.0 (Debian: libzydis4.0) is not installed";
static const char threads[] = "other threads run already";
static const char forbidden[] = "the system forbids code that is written at run time, or writing to code";
static const char untouchable[] = "it returns twice, or belongs to the unwinder or the loader";
static const char full[] = "no room for its stub";
static const char many[] = "it is one of more than 2,048 that the globs name in this object";

/* ---- the decoder ---- */

static void *find_in(void *library, const char *name)
{
	return tpc_real.dlsym(library, name);
}

void tpc_code_load(void)
{
	void *library = loading == UNTRIED ? tpc_real.dlopen(tpc_code_decoder_library, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (loading != UNTRIED)
		return;
	loading = library && tpc_code_decoder_set(&decoder, find_in, library) ? LOADED : MISSING;
	if (!library)
		dlerror(); /* discards the message */
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

/* With shadow stacks a return address that was not pushed by a call is an attack. */
static bool may_push(void)
{
	uint64_t features = 0;

	return tpc_syscall(SYS_arch_prctl, GET_SHADOW_STACK, &features, 0, 0) != 0 || !(features & 1);
}

/* ---- an object ---- */

struct work {
	const struct dl_phdr_info *info;
	const char *path;
	struct tpc_symtab table;
	struct tpc_range code;
	uint32_t *list; /* symbols to hook */
	uint32_t count;
	uint64_t hooked;
	bool left; /* the decoder is needed first */
};

/* Memory for the time of a search. */
struct scratch {
	uint32_t list[FUNCTIONS_MAX];
	struct patch {
		uintptr_t at;
		uint32_t symbol;
		uint8_t bytes;
		uint8_t patch[sizeof(((struct tpc_code_detour *)0)->patch)];
	} patches[FUNCTIONS_MAX];
	struct tpc_code_detour detour;
};

static const void *refused[NAMED_MAX];
static uint32_t refused_count;

bool tpc_code_is_refused(const void *function)
{
	for (uint32_t i = 0; i < refused_count; i++) {
		if (refused[i] == function)
			return true;
	}
	return false;
}

static void *address_of(const struct work *work, uint32_t i)
{
	return (void *)(work->info->dlpi_addr + work->table.symbols[i].st_value);
}

static void refuse(const struct work *work, uint32_t symbol, const char *reason)
{
	const char *function = tpc_symtab_name(&work->table, symbol);
	char text[4400];
	struct tpc_text to = tpc_text_in(text, sizeof(text));

	if (refused_count == NAMED_MAX)
		function = "";
	else if (!tpc_code_is_refused(address_of(work, symbol)))
		refused[refused_count++] = address_of(work, symbol);
	tpc_text_add(&to, work->path);
	tpc_text_add(&to, "\n");
	tpc_text_add(&to, function);
	tpc_text_add(&to, "\n");
	tpc_text_add(&to, *function ? reason : "further ones, not named");
	tpc_covered_add(TPROF_HOOKS_REFUSED, 0, 1, text);
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

static bool is_listed(const struct work *work, uint32_t symbol)
{
	for (uint32_t i = 0; i < work->count; i++) {
		if (work->table.symbols[work->list[i]].st_value == work->table.symbols[symbol].st_value)
			return true;
	}
	return false;
}

static void list_function(struct work *work, uint32_t i)
{
	struct tpc_op_choice choice;
	const char *name = tpc_symtab_name(&work->table, i);

	if (!tpc_symtab_is_function(&work->table, i) || !tpc_range_holds(work->code, (uintptr_t)address_of(work, i)) ||
	    work->table.symbols[i].st_size > work->code.high - (uintptr_t)address_of(work, i))
		return;
	if (!choose(name, &choice)) {
		if (choice.refused)
			refuse(work, i, untouchable);
		return;
	}
	if (choice.signature.unhooked || tpc_op_is_hooked(address_of(work, i)) || is_listed(work, i))
		return;
	if (work->count < FUNCTIONS_MAX)
		work->list[work->count++] = i;
	else
		refuse(work, i, many);
}

static void refuse_all(const struct work *work, const char *reason)
{
	for (uint32_t i = 0; i < work->count; i++)
		refuse(work, work->list[i], reason);
}

/* ---- a function ---- */

static enum tpc_code_refusal move(const struct work *work, uint32_t symbol, uint8_t *to, void *stub,
				  struct tpc_code_detour *detour)
{
	const Elf64_Sym *it = &work->table.symbols[symbol];
	uintptr_t at = (uintptr_t)address_of(work, symbol);
	uint64_t next = tpc_symtab_next(&work->table, it->st_value) - it->st_value;
	size_t behind = work->code.high - at;
	struct tpc_code_function function = { (const uint8_t *)at, it->st_size, next < behind ? next : behind, at };
	enum tpc_code_refusal refusal;

	if (function.room < function.size)
		function.room = function.size;
	refusal = tpc_code_move(&decoder, &function, (uintptr_t)to, (uintptr_t)stub, may_push(), detour);
	if (!refusal && next < (uint64_t)detour->patch_at + detour->patch_bytes)
		return TPC_CODE_JUMPED_INTO; /* there is a symbol within */
	return refusal;
}

/* Makes the detour of a function in `to`. NULL: done; else why not. */
static const char *prepare(const struct work *work, uint32_t symbol, uint8_t *to, struct scratch *scratch,
			   struct tpc_moved *moved)
{
	struct tpc_code_detour *detour = &scratch->detour;
	enum tpc_code_refusal refusal = move(work, symbol, to, to, detour);
	struct tpc_op_choice choice;
	void *stub;

	if (refusal)
		return tpc_code_refusal_text(refusal);
	choose(tpc_symtab_name(&work->table, symbol), &choice);
	stub = tpc_op_code_stub(address_of(work, symbol), &choice);
	if (!stub)
		return full;
	move(work, symbol, to, stub, detour);
	memcpy(to, detour->code, detour->bytes);
	tpc_op_moved(stub, to + TPC_CODE_MOVED_AT);
	moved->function = (uintptr_t)address_of(work, symbol);
	moved->count = detour->place_count;
	memcpy(moved->places, detour->places, sizeof(moved->places));
	return NULL;
}

static uint32_t prepare_all(const struct work *work, uint8_t *area, struct scratch *scratch, struct tpc_moved *moved)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < work->count; i++) {
		uint32_t symbol = work->list[i];
		const char *reason = prepare(work, symbol, area + done * TPC_CODE_MOVED_MAX, scratch, &moved[done]);
		struct patch *patch = &scratch->patches[done];

		if (reason) {
			refuse(work, symbol, reason);
			continue;
		}
		patch->at = (uintptr_t)address_of(work, symbol) + scratch->detour.patch_at;
		patch->symbol = symbol;
		patch->bytes = scratch->detour.patch_bytes;
		memcpy(patch->patch, scratch->detour.patch, sizeof(patch->patch));
		done++;
	}
	return done;
}

static void hook_listed(struct work *work, struct scratch *scratch)
{
	size_t bytes = tpc_round_up(work->count * TPC_CODE_MOVED_MAX, TPC_PAGE);
	uint8_t *area = tpc_near_take(work->code, bytes);
	struct tpc_moved *moved = area ? tpc_space_take(work->count * sizeof(*moved)) : NULL;
	uint32_t count;

	if (!moved) {
		refuse_all(work, tpc_code_refusal_text(TPC_CODE_FAR));
		return;
	}
	tpc_space_note(area, bytes);
	count = prepare_all(work, area, scratch, moved);
	if (!tpc_near_seal(area, bytes) || !tpc_moved_add((uintptr_t)area, count, moved)) {
		refuse_all(work, forbidden);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct patch *patch = &scratch->patches[i];

		if (tpc_near_write(patch->at, patch->patch, patch->bytes))
			work->hooked++;
		else
			refuse(work, patch->symbol, forbidden);
	}
}

static struct tpc_range code_of(const struct dl_phdr_info *info)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && header->p_flags & PF_X)
			return (struct tpc_range){ start, start + header->p_filesz };
	}
	return (struct tpc_range){ 0, 0 };
}

static void look_for_functions(struct work *work)
{
	struct scratch *scratch = tpc_sys_mmap(sizeof(*scratch), PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (tpc_sys_failed(scratch))
		return;
	work->list = scratch->list;
	for (size_t i = 0; i < work->table.count; i++)
		list_function(work, (uint32_t)i);
	if (work->count && loading == UNTRIED)
		work->left = true;
	else if (loading == MISSING)
		refuse_all(work, missing);
	else if (work->count && !is_alone())
		refuse_all(work, threads);
	else if (work->count)
		hook_listed(work, scratch);
	tpc_sys_munmap(scratch, sizeof(*scratch));
}

static void look_at_object(const struct dl_phdr_info *info, void *context)
{
	struct work work = { .info = info, .path = info->dlpi_name ? info->dlpi_name : "", .code = code_of(info) };
	bool *left = context;

	if (!is_searched(work.path) || !tpc_symtab_open(info, &work.table))
		return;
	look_for_functions(&work);
	if (work.hooked)
		tpc_covered_add(TPROF_HOOKS_CODE, 0, work.hooked, work.path);
	tpc_symtab_close(&work.table);
	*left |= work.left;
}

bool tpc_code_hook(const struct tpc_seen *seen, size_t from)
{
	static uint64_t unloads;
	bool left = false;

	if (unloads != seen->unloads)
		tpc_op_code_forget();
	unloads = seen->unloads;
	if (tpc_ops_any_named())
		tpc_slots_objects(seen, from, look_at_object, &left);
	return !left;
}
