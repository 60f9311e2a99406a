/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/allocators.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

#include "symbols/embedded.h"
#include "symbols/image.h"
#include "base/memory.h"

/*
 * One allocator per row. `symbol` is a function's full name. A leading "*" stands for any non-empty prefix (jemalloc's
 * is chosen when it is built); without a prefix it is malloc itself, which the hooks see. Other code decides whether a
 * module that defines malloc comes before or after the hooks.
 *
 * `plain`: the function that allocates each block separately if the pool is told to.
 */
#define RULES "TPROF_RULES=PREFIX/share/tprof/pools.rules (tprof run --rules pools)"
static const struct known {
	const char *name, *symbol;
	bool pool;
	bool proof;	     /* may be linked in without being used: requires a stack that shows its use */
	const char *plain;   /* NULL: has none */
	const char *setting; /* makes it use plain blocks; NULL: none is known */
} table[] = {
	{ .name = "jemalloc", .symbol = "*mallocx" },
	{ .name = "mimalloc", .symbol = "mi_malloc", .proof = true },
	{ .name = "tcmalloc", .symbol = "tc_malloc" },
	{ .name = "rpmalloc", .symbol = "rpmalloc" },
	{ .name = "snmalloc", .symbol = "sn_rust_alloc" },
	{ .name = "snmalloc", .symbol = "sn_malloc" },
	{ .name = "dlmalloc", .symbol = "dlmalloc" },
	{ .name = "nedmalloc", .symbol = "nedmalloc" },
	{ .name = "TLSF", .symbol = "tlsf_malloc" },
	{ .name = "libumem", .symbol = "umem_alloc" },
	{ .name = "the garbage collector of Boehm, Demers and Weiser", .symbol = "GC_malloc" },
	{ .name = "Go's heap", .symbol = "runtime.mallocgc" },
	{ .name = "GLib's slices",
	  .symbol = "g_slice_alloc",
	  .pool = true,
	  .plain = "g_malloc",
	  .setting = RULES ", or G_SLICE=always-malloc" },
	{ .name = "APR's pools", .symbol = "apr_palloc", .pool = true, .setting = RULES },
	{ .name = "obstacks", .symbol = "_obstack_newchunk", .pool = true },
	{ .name = "talloc's pools", .symbol = "talloc_pool", .pool = true },
	{ .name = "std::pmr's pools",
	  .symbol = "_ZNSt3pmr28unsynchronized_pool_resource11do_allocateEmm",
	  .pool = true,
	  .setting = RULES },
	{ .name = "std::pmr's pools",
	  .symbol = "_ZNSt3pmr26synchronized_pool_resource11do_allocateEmm",
	  .pool = true,
	  .setting = RULES },
	{ .name = "std::pmr's pools",
	  .symbol = "_ZNSt3pmr25monotonic_buffer_resource13_M_new_bufferEmm",
	  .pool = true },
	{ .name = "nginx's pools", .symbol = "ngx_palloc", .pool = true, .setting = RULES },
	{ .name = "PostgreSQL's memory contexts", .symbol = "AllocSetAlloc", .pool = true, .setting = RULES },
};
#define NEAR 8192u
#define KNOWN (sizeof(table) / sizeof(*table))

struct range {
	uint64_t start, end; /* link-time addresses */
};

struct found {
	const struct known *what;
	char *symbol;
	struct range function, plain;
};

/* A module's file, and the allocators in it. */
struct tpa_allocators_module {
	const char *path; /* belongs to the trace */
	const uint8_t *build_id;
	uint8_t build_id_length;
	struct found list[KNOWN];
	size_t count;
	bool has_malloc;
};

/* ---- symbols ---- */

static bool is_symbol(const struct known *known, const char *name)
{
	const char *wanted = known->symbol;
	size_t length, tail;

	if (*wanted != '*')
		return strcmp(name, wanted) == 0;
	length = strlen(name);
	tail = strlen(++wanted);
	return length > tail && length < 64 && strcmp(name + length - tail, wanted) == 0;
}

static void add_found(struct tpa_allocators_module *module, const struct known *known, const char *name,
		      struct range range)
{
	struct found *found = &module->list[module->count];

	for (size_t i = 0; i < module->count; i++)
		if (module->list[i].what == known)
			return;
	*found = (struct found){ .what = known, .symbol = tpa_strdup(name), .function = range };
	module->count++;
}

static void look_at_symbol(struct tpa_allocators_module *module, const char *name, struct range range)
{
	if (strcmp(name, "malloc") == 0)
		module->has_malloc = true;
	for (size_t i = 0; i < KNOWN; i++)
		if (is_symbol(&table[i], name))
			add_found(module, &table[i], name, range);
}

static void set_plain(struct tpa_allocators_module *module, const char *name, struct range range)
{
	for (size_t i = 0; i < module->count; i++)
		if (module->list[i].what->plain && strcmp(module->list[i].what->plain, name) == 0)
			module->list[i].plain = range;
}

static void read_table(struct tpa_allocators_module *module, Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
		       void (*look)(struct tpa_allocators_module *, const char *, struct range))
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; i < count && i < INT_MAX && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name;

		if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name && *name)
			look(module, name, (struct range){ symbol.st_value, symbol.st_value + symbol.st_size });
	}
}

static void read_tables(struct tpa_allocators_module *module, Elf *elf,
			void (*look)(struct tpa_allocators_module *, const char *, struct range))
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			read_table(module, elf, section, &header, look);
}

static void read_module(struct tpa_allocators_module *known, const struct tpa_module *module, const char *debug_dir)
{
	enum tpa_module_state state;
	Elf *elf;
	int fd;

	elf_version(EV_CURRENT);
	fd = tpa_image_find(module, debug_dir, &state);
	if (fd < 0)
		return;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf) {
		read_tables(known, elf, look_at_symbol);
		if (known->count)
			read_tables(known, elf, set_plain);
		elf_end(elf);
	}
	close(fd);
}

static struct tpa_allocators_module *module_of(struct tpa_allocators *known, const struct tpa_module *module,
					       const char *debug_dir)
{
	struct tpa_allocators_module *at;

	for (size_t i = 0; i < known->count; i++) {
		at = &known->list[i];
		if (strcmp(at->path, module->path) == 0 && at->build_id_length == module->build_id_length &&
		    (!at->build_id_length || memcmp(at->build_id, module->build_id, at->build_id_length) == 0))
			return at;
	}
	at = TPA_APPEND(known->list, known->count, known->room);
	*at = (struct tpa_allocators_module){ .path = module->path,
					      .build_id = module->build_id,
					      .build_id_length = module->build_id_length };
	read_module(at, module, debug_dir);
	return at;
}

void tpa_allocators_free(struct tpa_allocators *known)
{
	for (size_t i = 0; i < known->count; i++)
		for (size_t k = 0; k < known->list[i].count; k++)
			free(known->list[i].list[k].symbol);
	free(known->list);
	for (size_t i = 0; i < known->embedded_count; i++)
		tpa_embedded_close(known->embedded[i]);
	free((void *)known->embedded);
	*known = (struct tpa_allocators){ NULL };
}

/* ---- what a process used ---- */

static bool is_in(const struct tpa_trace *trace, uint32_t frame, const struct tpa_module *module, struct range range)
{
	const struct tpa_frame *at = &trace->frames[frame];
	uint64_t address = at->module == module && !at->code ? tpa_frame_address(at) - module->bias : 0;

	return frame && at->module == module && address >= range.start && address < range.end;
}

/*
 * Widens the range to neighbours: the functions of one source file lie together, as a pool's refill and its part
 * allocation.
 */
static struct range beside(struct range function)
{
	return (struct range){ function.start > NEAR ? function.start - NEAR : 0, function.end + NEAR };
}

/* Is any frame in the function? There are far fewer frames than nodes, and most functions that are looked for were never called. */
static bool was_called(const struct tpa_trace *trace, const struct tpa_module *module, struct range function)
{
	uint32_t frame;

	for (size_t i = 1; tpa_trace_recorded_frame(trace, i, &frame); i++)
		if (is_in(trace, frame, module, function))
			return true;
	return false;
}

/*
 * Does a stack go through the function? The function may make a plain allocation by a jump (then the stack ends in it)
 * or by a call. So if there is a plain mode: does the stack continue to another function of the same file?
 */
static bool is_used(const struct tpa_trace *trace, const struct tpa_module *module, const struct found *found)
{
	struct tpa_call call;

	if (!was_called(trace, module, found->function))
		return false;
	for (size_t i = TPROF_NODE_FIRST; tpa_trace_call(trace, i, &call); i++) {
		if (!found->what->plain && is_in(trace, call.frame, module, found->function))
			return true;
		if (found->what->plain && is_in(trace, call.caller, module, found->function) &&
		    is_in(trace, call.frame, module, beside(found->function)) &&
		    !is_in(trace, call.frame, module, found->plain))
			return true;
	}
	return false;
}

/* Are its blocks recorded, by a rule? */
static bool is_recorded(const struct tpa_trace *trace, const struct tpa_module *module, const char *name)
{
	for (size_t i = 0; i < trace->hooks_count; i++) {
		const struct tpa_hooks *hooks = &trace->hooks[i];

		if (hooks->state == TPROF_HOOKS_RULED && strcmp(hooks->allocator, name) == 0 &&
		    strcmp(tpa_hooks_path(trace, hooks), module->path) == 0)
			return true;
	}
	return false;
}

/* Adds an allocator once, for the first of its symbols. */
static void add_unseen(struct tpa_trace *trace, const struct tpa_module *module, const struct found *found)
{
	if (is_recorded(trace, module, found->what->name))
		return;
	for (size_t i = 0; i < trace->unseen_count; i++)
		if (strcmp(trace->unseen[i].name, found->what->name) == 0)
			return;
	trace->unseen = tpa_resize(trace->unseen, trace->unseen_count + 1, sizeof(*trace->unseen));
	trace->unseen[trace->unseen_count++] = (struct tpa_unseen_allocator){ .name = found->what->name,
									      .symbol = found->symbol,
									      .module = module->path,
									      .setting = found->what->setting,
									      .pool = found->what->pool };
}

/* The allocators that were found when the trace was made compact. False: it brings no such list. */
static bool take_embedded(struct tpa_allocators *known, struct tpa_trace *trace)
{
	struct tpa_embedded *embedded = tpa_embedded_open(trace);
	const struct tpa_unseen_allocator *list;

	if (!embedded)
		return false;
	*TPA_APPEND(known->embedded, known->embedded_count, known->embedded_room) = embedded;
	free(trace->unseen);
	list = tpa_embedded_allocators(embedded, &trace->unseen_count);
	trace->unseen = tpa_zalloc(trace->unseen_count, sizeof(*trace->unseen));
	if (trace->unseen_count)
		memcpy(trace->unseen, list, trace->unseen_count * sizeof(*trace->unseen));
	return true;
}

void tpa_allocators_find(struct tpa_allocators *known, struct tpa_trace *trace, const char *debug_dir)
{
	if (take_embedded(known, trace))
		return;
	for (size_t i = 0; i < trace->module_count; i++) {
		const struct tpa_module *module = &trace->modules[i];
		const struct tpa_allocators_module *at;

		if (module->collector || module->path[0] != '/')
			continue;
		at = module_of(known, module, debug_dir);
		for (size_t k = 0; k < at->count; k++) {
			const struct found *found = &at->list[k];
			bool proof = found->what->pool || found->what->proof;

			if (at->has_malloc && !found->what->pool)
				continue;
			if (!proof || is_used(trace, module, found))
				add_unseen(trace, module, found);
		}
	}
}
