/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/search/root_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbols/demangle.h"

#define TLS_MOST 65536u	      /* limit below a thread's descriptor */
#define DESCRIPTOR_MOST 4096u /* limit above a thread's descriptor */
#define FRAME_MOST 65536u     /* most bytes between a variable and the return address below it */

/* ---- modules ---- */

static const struct tpa_module *module_at(const struct tpa_trace *trace, uint64_t address)
{
	for (size_t i = trace->module_count; i-- > 0;) {
		const struct tpa_module *module = &trace->modules[i];

		if (!module->unloaded_ticks && address >= module->start && address < module->end)
			return module;
	}
	return NULL;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const struct tpa_variables *variables_of(struct tpa_root_names *names, const struct tpa_module *module)
{
	size_t index = (size_t)(module - names->trace->modules);

	if (!names->loaded[index]) {
		names->loaded[index] = true;
		tpa_variables_load(&names->variables[index], tpa_image_of(module, NULL));
	}
	return &names->variables[index];
}

static void put_variable(struct tpa_holders_root *root, const char *linkage, const char *more)
{
	char *readable = tpa_demangle(linkage);

	snprintf(root->name, sizeof(root->name), "%s%s", readable ? readable : linkage, more);
	free(readable);
}

static void name_variable(struct tpa_root_names *names, const struct tpa_module *module, uint64_t address,
			  struct tpa_holders_root *root)
{
	const struct tpa_image *image = tpa_image_of(module, NULL);
	const struct tpa_variables *variables = variables_of(names, module);
	uint64_t place = tpa_image_address(image, module, address);
	const struct tpa_variable *variable = tpa_variables_find(variables, place, false);

	root->kind = TPROF_HOLDER_STATIC;
	root->round = TPA_ROUND_STATIC;
	root->low = address;
	root->high = address + 8;
	if (!variable) {
		snprintf(root->name, sizeof(root->name), "%s+%#" PRIx64, file_name(module->path),
			 address - module->bias);
		return;
	}
	if (!variable->local)
		root->kind = TPROF_HOLDER_GLOBAL;
	root->low = address - (place - variable->low);
	root->high = address + (variable->high - place);
	put_variable(root, variable->name, "");
}

/* ---- threads ---- */

/* A descriptor points to itself twice (psABI); it lies at the end of the thread's stack. */
static uint64_t find_descriptor(struct tpa_holders_memory *memory, const struct tprof_range *stack)
{
	uint64_t low = stack->high - stack->low > DESCRIPTOR_MOST ? stack->high - DESCRIPTOR_MOST : stack->low;

	for (uint64_t at = (stack->high - 64) & ~UINT64_C(63); at >= low; at -= 64)
		if (tpa_holders_word(memory, at) == at && tpa_holders_word(memory, at + 16) == at)
			return at;
	return 0;
}

static const struct tpa_module *executable(const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->module_count; i++)
		if (strcmp(trace->modules[i].path, trace->exe) == 0)
			return &trace->modules[i];
	return NULL;
}

static void say_thread(uint32_t thread, char *text, size_t size)
{
	if (thread)
		snprintf(text, size, " (thread %" PRIu32 ")", thread + 1);
	else
		text[0] = 0;
}

/* The executable's thread-local variables are the first module in each thread's vector. */
static void name_thread_local(struct tpa_root_names *names, uint32_t thread, uint64_t address,
			      struct tpa_holders_root *root)
{
	const struct tpa_module *module = executable(names->trace);
	uint64_t vector = tpa_holders_word(names->memory, names->threads[thread] + 8);
	uint64_t part = vector ? tpa_holders_word(names->memory, vector + 16) : 0;
	const struct tpa_variable *variable = NULL;
	char which[40];

	root->kind = TPROF_HOLDER_TLS;
	root->round = TPA_ROUND_STATIC;
	root->low = address;
	root->high = address + 8;
	say_thread(thread, which, sizeof(which));
	if (module && part && part <= address && address < names->threads[thread])
		variable = tpa_variables_find(variables_of(names, module), address - part, true);
	if (!variable) {
		root->round = TPA_ROUND_REST;
		snprintf(root->name, sizeof(root->name), "thread-local storage%s", which);
		return;
	}
	root->low = part + variable->low;
	root->high = part + variable->high;
	put_variable(root, variable->name, which);
}

/* Does a call end here? Accepts call rel32, and indirect calls of 2 to 7 bytes. */
static bool is_return(struct tpa_holders_memory *memory, uint64_t address)
{
	const struct tpa_frozen_map *map = tpa_frozen_find(memory->frozen, address);
	uint8_t code[7];

	if (!map || !map->executable || address < map->low + sizeof(code))
		return false;
	tpa_holders_copy(memory, address - sizeof(code), code, sizeof(code));
	if (code[2] == 0xe8)
		return true;
	for (size_t i = 0; i + 1 < sizeof(code); i++)
		if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
			return true;
	return false;
}

/* Finds the function whose frame holds a place on the stack, by the return address below it. */
static bool find_function(struct tpa_root_names *names, uint64_t address, uint64_t low, char *text, size_t size)
{
	uint64_t least = address - low > FRAME_MOST ? address - FRAME_MOST : low;

	for (uint64_t at = address; at > least;) {
		uint64_t word = tpa_holders_word(names->memory, at -= 8);
		const struct tpa_module *module = module_at(names->trace, word);
		const struct tpa_image *image;
		const char *name;
		char *readable;

		if (!module || !is_return(names->memory, word))
			continue;
		image = tpa_image_of(module, NULL);
		name = image->module ? tpa_symtab_find(&image->symtab, tpa_image_address(image, module, word - 1))
				     : NULL;
		readable = name ? tpa_demangle(name) : NULL;
		if (name)
			snprintf(text, size, "%s", readable ? readable : name);
		else
			snprintf(text, size, "%s+%#" PRIx64, file_name(module->path), word - module->bias);
		free(readable);
		return true;
	}
	return false;
}

static void name_frame(struct tpa_root_names *names, uint32_t thread, uint64_t address, struct tpa_holders_root *root)
{
	const struct tprof_snapshot *note = names->memory->frozen->note;
	uint64_t sp = thread ? note->used[thread] : names->sp;
	char function[200], which[40];

	root->kind = TPROF_HOLDER_STACK;
	root->round = TPA_ROUND_REST;
	say_thread(thread, which, sizeof(which));
	if (find_function(names, address, sp > note->stacks[thread].low ? sp : note->stacks[thread].low, function,
			  sizeof(function)))
		snprintf(root->name, sizeof(root->name), "%s%s's frame%s", function, strchr(function, '(') ? "" : "()",
			 which);
	else
		snprintf(root->name, sizeof(root->name), "the stack%s", which);
}

static bool name_of_thread(struct tpa_root_names *names, uint64_t address, struct tpa_holders_root *root)
{
	const struct tprof_snapshot *note = names->memory->frozen->note;

	for (uint32_t i = 0; i < note->stack_count; i++) {
		uint64_t thread = names->threads[i];

		if (thread && address + TLS_MOST >= thread && address < thread + DESCRIPTOR_MOST &&
		    (i == 0 || address >= note->stacks[i].low)) {
			const struct tpa_frozen_map *map = tpa_frozen_find(names->memory->frozen, address);
			uint64_t vector = tpa_holders_word(names->memory, thread + 8);
			uint64_t part = vector ? tpa_holders_word(names->memory, vector + 16) : thread;

			if (map && thread >= map->low && thread < map->high &&
			    (address >= thread || address >= part || i == 0)) {
				name_thread_local(names, i, address, root);
				return true;
			}
		}
		if (address >= note->stacks[i].low && address < note->stacks[i].high) {
			name_frame(names, i, address, root);
			return true;
		}
	}
	return false;
}

/* ---- all ---- */

void tpa_root_names_init(struct tpa_root_names *names, const struct tpa_trace *trace, struct tpa_holders_memory *memory,
			 uint64_t sp)
{
	const struct tprof_snapshot *note = memory->frozen->note;

	*names = (struct tpa_root_names){ .trace = trace, .memory = memory, .sp = sp };
	names->variables = tpa_zalloc(trace->module_count + 1, sizeof(*names->variables));
	names->loaded = tpa_zalloc(trace->module_count + 1, sizeof(*names->loaded));
	names->threads = tpa_zalloc(note->stack_count + 1, sizeof(*names->threads));
	names->threads[0] = note->self;
	for (uint32_t i = 1; i < note->stack_count; i++)
		names->threads[i] = find_descriptor(memory, &note->stacks[i]);
}

void tpa_root_names_free(struct tpa_root_names *names)
{
	for (size_t i = 0; i < names->trace->module_count; i++)
		tpa_variables_free(&names->variables[i]);
	free(names->variables);
	free(names->loaded);
	free(names->threads);
}

void tpa_root_name(struct tpa_root_names *names, uint64_t address, struct tpa_holders_root *root)
{
	const struct tpa_module *module = address ? module_at(names->trace, address) : NULL;
	const struct tpa_frozen_map *map;

	if (!address) {
		root->kind = TPROF_HOLDER_REGISTER;
		root->round = TPA_ROUND_REST;
		snprintf(root->name, sizeof(root->name), "a register");
		return;
	}
	if (module) {
		name_variable(names, module, address, root);
		return;
	}
	if (name_of_thread(names, address, root))
		return;
	map = tpa_frozen_find(names->memory->frozen, address);
	root->kind = TPROF_HOLDER_MEMORY;
	root->round = TPA_ROUND_REST;
	root->low = map ? map->low : address;
	root->high = map ? map->high : address + 8;
	snprintf(root->name, sizeof(root->name), "%s",
		 map && map->path[0] ? map->path : "memory that the program mapped");
}

bool tpa_root_same_module(const struct tpa_root_names *names, uint64_t address, uint64_t other)
{
	const struct tpa_module *module = address ? module_at(names->trace, address) : NULL;

	return module && other >= module->start && other < module->end;
}
