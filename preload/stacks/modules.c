/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/modules.h"

#include "core/maps.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/tables.h"
#include "core/thread.h"
#include "stacks/debug_frame.h"
#include "stacks/frame_table.h"
#include "stacks/mapped.h"

#include <elf.h>
#include <link.h>

#define MODULES_MAX 4096
#define ONE_BEGUN (UINT64_C(1) << 32) /* as counted in tpc_modules_closes */
#define WAIT_ROUNDS 10000	      /* for a few stores of another thread; then continue without */

typedef TPC_SHARED(const struct tpc_debug_frame *) tpc_debug_pointer;

struct module {
	tpc_shared_address start; /* 0: unused or unloaded; claimed by the thread that sets it */
	tpc_shared_address end;
	const struct link_map *map;
	uint32_t name_hash;
	tpc_shared_u32 number;	 /* published last; 0: not yet published */
	tpc_debug_pointer debug; /* NULL: not asked for yet */
};

static struct module modules[MODULES_MAX];
static tpc_shared_u32 used; /* slots that were ever claimed */
tpc_shared_u64 tpc_modules_closes;

/* FNV-1a, 32 bits. */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return hash;
}

static bool same_object(const struct module *module, const struct dl_find_object *object)
{
	return module->map == object->dlfo_link_map && tpc_load(&module->end) == (uintptr_t)object->dlfo_map_end &&
	       module->name_hash == hash_name(object->dlfo_link_map->l_name);
}

/* ---- registration ---- */

static const ElfW(Nhdr) * next_note(const ElfW(Nhdr) * note)
{
	const uint8_t *p = (const uint8_t *)(note + 1);

	return (const ElfW(Nhdr) *)(p + tpc_round_up(note->n_namesz, 4) + tpc_round_up(note->n_descsz, 4));
}

static void find_build_id(struct tpc_module_record *record, const ElfW(Phdr) * header)
{
	const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(record->bias + header->p_vaddr);
	const uint8_t *end = (const uint8_t *)note + header->p_memsz;

	if ((uintptr_t)note < record->start || (uintptr_t)end > record->end)
		return;
	while ((const uint8_t *)(note + 1) <= end) {
		const char *name = (const char *)(note + 1);

		if ((const uint8_t *)next_note(note) > end)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
			record->build_id = (const uint8_t *)name + 4;
			record->build_id_length = note->n_descsz;
			return;
		}
		note = next_note(note);
	}
}

/* The program headers of an object that is loaded at `start`; *count is 0 if they are not in its first page. */
static const ElfW(Phdr) * headers_of(uintptr_t start, size_t *count)
{
	const ElfW(Ehdr) *image = (const ElfW(Ehdr) *)start;

	*count = memcmp(image->e_ident, ELFMAG, SELFMAG) == 0 &&
				 image->e_phoff + image->e_phnum * sizeof(ElfW(Phdr)) <= TPC_PAGE
			 ? image->e_phnum
			 : 0;
	return (const ElfW(Phdr) *)((const uint8_t *)image + image->e_phoff);
}

static void read_image(struct tpc_module_record *record)
{
	size_t count;
	const ElfW(Phdr) *headers = headers_of(record->start, &count);

	for (size_t i = 0; i < count && !record->build_id_length; i++) {
		if (headers[i].p_type == PT_NOTE)
			find_build_id(record, &headers[i]);
	}
}

struct tpc_range tpc_module_code(uintptr_t pc)
{
	struct dl_find_object object;
	const ElfW(Phdr) * headers;
	size_t count;

	if (!tpc_object_find(pc, &object))
		return (struct tpc_range){ 0, 0 };
	headers = headers_of((uintptr_t)object.dlfo_map_start, &count);
	for (size_t i = 0; i < count; i++) {
		uintptr_t low = object.dlfo_link_map->l_addr + headers[i].p_vaddr;
		struct tpc_range code = { low, low + headers[i].p_filesz };

		if (headers[i].p_type == PT_LOAD && (headers[i].p_flags & (PF_X | PF_R)) == (PF_X | PF_R) &&
		    tpc_range_holds(code, pc))
			return code;
	}
	return (struct tpc_range){ 0, 0 };
}

static const char *path_of(const struct link_map *map, uintptr_t start, char *buffer, size_t size)
{
	const char *path;

	if (map->l_name[0] == '/')
		return map->l_name;
	/*
	 * It was loaded by a relative path, and the program may have changed its folder since; the kernel knows the
	 * file.
	 */
	if (map->l_name[0] && tpc_maps_find(start, buffer, size, &path).high && path[0])
		return path;
	if (map->l_name[0])
		return map->l_name;    /* the vDSO */
	tpc_process_exe(buffer, size); /* the executable has no name in its map */
	return buffer;
}

static void write_down(const struct module *module, uint32_t number, const struct dl_find_object *object)
{
	struct tpc_module_record record = {
		.module = number,
		.bias = object->dlfo_link_map->l_addr,
		.start = tpc_load(&module->start),
		.end = tpc_load(&module->end),
		.path = path_of(object->dlfo_link_map, tpc_load(&module->start), tpc_self->scratch,
				sizeof(tpc_self->scratch)),
	};

	read_image(&record);
	tpc_table_module(&record);
}

static struct module *claim(const struct dl_find_object *object)
{
	uintptr_t start = (uintptr_t)object->dlfo_map_start;

	for (uint32_t i = 0; i < MODULES_MAX; i++) {
		struct module *module = &modules[i];

		if (tpc_load(&module->start) != 0 || !tpc_swap_if(&module->start, (uintptr_t)0, start))
			continue;
		tpc_store(&module->end, (uintptr_t)object->dlfo_map_end);
		module->map = object->dlfo_link_map;
		module->name_hash = hash_name(module->map->l_name);
		while (tpc_load(&used) <= i)
			tpc_swap_if(&used, tpc_load(&used), i + 1);
		return module;
	}
	return NULL;
}

static uint32_t number_of(struct module *module)
{
	uint32_t number = 0;

	/* Acquire pairs with register_module()'s release: the record is in the trace. */
	for (int i = 0; i < WAIT_ROUNDS && !(number = tpc_load_acquire(&module->number)); i++)
		tpc_arch_relax();
	return number;
}

static uint32_t register_module(const struct dl_find_object *object)
{
	struct module *module = claim(object);
	uint32_t number;

	if (!module)
		return 0;
	number = tpc_add(&tpc_header->modules, 1) + 1;
	write_down(module, number, object);
	tpc_store_release(&module->number, number);
	return number;
}

/* ---- unloading ---- */

/* Unloads the module, unless the slot no longer holds `start` and `number`: then another thread has reused it. */
static void unload(struct module *module, uintptr_t start, uint32_t number)
{
	uintptr_t end = tpc_load(&module->end);

	if (tpc_load(&module->start) != start || !tpc_swap_if(&module->number, number, 0u))
		return;
	tpc_table_unload(number);
	tpc_frames_purge(start, end);
	tpc_frames_doubt();
	tpc_debug_frame_retire(tpc_exchange(&module->debug, NULL));
	tpc_store_release(&module->start, (uintptr_t)0);
}

/* False: another dlclose has begun. It frees names that are read here, and may unload objects that were already passed. */
static bool check_all(uint64_t closes)
{
	for (uint32_t i = 0; i < tpc_load(&used); i++) {
		struct module *module = &modules[i];
		uint32_t number = tpc_load_acquire(&module->number);
		uintptr_t start = tpc_load(&module->start);
		struct dl_find_object object;

		if (!start || !number)
			continue;
		if (tpc_load_acquire(&tpc_modules_closes) != closes)
			return false;
		if (!tpc_object_find(start, &object) || !same_object(module, &object))
			unload(module, start, number);
	}
	return true;
}

void tpc_modules_close_begins(void)
{
	tpc_add_acq_rel(&tpc_modules_closes, ONE_BEGUN + 1);
	tpc_frames_doubt();
}

void tpc_modules_close_ends(bool check)
{
	uint64_t closes;

	do {
		closes = tpc_load_acquire(&tpc_modules_closes);
		if (!tpc_modules_under_way(closes))
			return; /* a child that was forked during a dlclose began anew */
	} while ((tpc_modules_under_way(closes) == 1 && check && !check_all(closes)) ||
		 !tpc_swap_if(&tpc_modules_closes, closes, closes - 1));
}

uint32_t tpc_modules_renew(void)
{
	uint32_t epoch = tpc_load_acquire(&tpc_frames_epoch);

	return tpc_modules_unsettled() ? epoch - 1
				       : epoch; /* during a dlclose nothing is valid: the caller will ask again */
}

void tpc_modules_forget(void)
{
	for (uint32_t i = 0; i < tpc_unshared(used); i++)
		tpc_debug_frame_give_back(tpc_unshared(modules[i].debug));
	memset(modules, 0, tpc_unshared(used) * sizeof(modules[0]));
	tpc_unshared(used) = 0;
	tpc_unshared(tpc_modules_closes) = 0;
	tpc_unshared(tpc_frames_epoch)++;
	tpc_mapped_forget();
}

struct tpc_module_at tpc_module_find(uintptr_t pc)
{
	struct tpc_module_at found = { 0, 0, NULL };
	struct dl_find_object object;

	if (!tpc_object_find(pc, &object)) {
		found.module = tpc_mapped_find(pc, &found.start);
		return found;
	}
	found.start = (uintptr_t)object.dlfo_map_start;
	found.eh_frame_hdr = object.dlfo_eh_frame;
	for (uint32_t i = 0; i < tpc_load(&used); i++) {
		struct module *module = &modules[i];

		if (tpc_load(&module->start) != found.start)
			continue;
		found.module = number_of(module);
		if (!found.module)
			continue; /* another thread takes long to change it: the object gets a second number */
		if (same_object(module, &object))
			return found;
		unload(module, found.start, found.module); /* unloaded without a hook noticing */
	}
	found.module = register_module(&object);
	return found;
}

/* ---- tables that are not loaded ---- */

static const struct tpc_debug_frame *read_debug_frame(struct module *module, uintptr_t pc)
{
	const struct tpc_debug_frame *none = NULL, *made;
	struct dl_find_object object;

	if (!tpc_self || !tpc_object_find(pc, &object))
		return NULL;
	made = tpc_debug_frame_read(&(struct tpc_debug_module){
		.path = path_of(object.dlfo_link_map, tpc_load(&module->start), tpc_self->scratch,
				sizeof(tpc_self->scratch)),
		.start = tpc_load(&module->start),
		.end = tpc_load(&module->end),
		.bias = object.dlfo_link_map->l_addr,
	});
	if (tpc_swap_if(&module->debug, none, made)) /* pairs with tpc_module_debug_frame() */
		return made;
	tpc_debug_frame_give_back(made); /* another thread was first */
	return tpc_load_acquire(&module->debug);
}

const struct tpc_debug_frame *tpc_module_debug_frame(const struct tpc_module_at *at)
{
	for (uint32_t i = 0; i < tpc_load(&used); i++) {
		struct module *module = &modules[i];
		const struct tpc_debug_frame *found;

		if (tpc_load_acquire(&module->number) != at->module || tpc_load(&module->start) != at->start)
			continue;
		found = tpc_load_acquire(&module->debug); /* pairs with read_debug_frame(): it is filled */
		return found ? found : read_debug_frame(module, at->start);
	}
	return NULL;
}
