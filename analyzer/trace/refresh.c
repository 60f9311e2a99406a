/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file that has grown anew, beside what was read before, and exchanges the two. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/impl.h"
#include "trace/jit.h"

#define SWAP(a, b)                                                                                                     \
	do {                                                                                                           \
		__typeof__(a) kept_ = (a);                                                                             \
		(a) = (b);                                                                                             \
		(b) = kept_;                                                                                           \
	} while (0)

static void point_to_self(struct tpa_trace_impl *impl)
{
	impl->trace.impl = impl;
	impl->trace.header = &impl->header;
}

static void keep_ops(struct tpa_trace *trace, struct tpa_trace *before)
{
	size_t recorded = before->regions ? before->regions : before->op_count;

	for (size_t i = 0; i < recorded && i < trace->op_count; i++) {
		if (!before->ops[i].name || !trace->ops[i].name)
			continue;
		SWAP(trace->ops[i].name, before->ops[i].name);
		SWAP(trace->ops[i].category, before->ops[i].category);
		trace->ops[i].has_symbol = before->ops[i].has_symbol;
	}
	tpa_trace_split_regions(trace);
}

/*
 * Symbols that were found before the refresh point to the paths. A build ID lies behind its path, in the same memory. Modules are in
 * the order of their IDs.
 */
static void keep_module_paths(struct tpa_trace *trace, struct tpa_trace *before)
{
	for (size_t i = 0, j = 0; i < trace->module_count && j < before->module_count;) {
		struct tpa_module *module = &trace->modules[i], *old = &before->modules[j];

		if (module->id == old->id && strcmp(module->path, old->path) == 0 &&
		    module->build_id_length == old->build_id_length) {
			SWAP(module->path, old->path);
			SWAP(module->build_id, old->build_id);
		}
		i += module->id <= old->id;
		j += old->id <= module->id;
	}
}

static void keep_code_names(struct tpa_trace *trace, struct tpa_trace *before)
{
	for (size_t i = 0; i < trace->code_count && i < before->code_count; i++) {
		struct tpa_code *code = &trace->codes[i], *old = &before->codes[i];

		if (!code->name || !old->name || strcmp(code->name, old->name) != 0 ||
		    strcmp(code->file, old->file) != 0)
			continue;
		SWAP(code->name, old->name);
		SWAP(code->file, old->file);
	}
}

/* Texts of the header never change, and others keep pointers to them. */
static void keep_texts(struct tpa_trace *trace, struct tpa_trace *before)
{
	SWAP(trace->file, before->file);
	SWAP(trace->exe, before->exe);
	SWAP(trace->cwd, before->cwd);
	SWAP(trace->malloc_path, before->malloc_path);
	SWAP(trace->parent_path, before->parent_path);
	SWAP(trace->started, before->started);
	SWAP(trace->args, before->args);
	SWAP(trace->arg_count, before->arg_count);
	SWAP(trace->env, before->env);
	SWAP(trace->env_count, before->env_count);
	SWAP(trace->unseen, before->unseen);
	SWAP(trace->unseen_count, before->unseen_count);
}

/* Keeps what others point to, and names that were set after opening. */
static void keep(struct tpa_trace_impl *impl, struct tpa_trace_impl *old)
{
	struct tpa_trace *trace = &impl->trace, *before = &old->trace;

	SWAP(impl->text, old->text);
	SWAP(impl->lists, old->lists);
	keep_texts(trace, before);
	SWAP(impl->readers, old->readers);
	SWAP(impl->reasons, old->reasons);
	SWAP(impl->reason_count, old->reason_count);
	SWAP(impl->reason_room, old->reason_room);
	keep_ops(trace, before);
	keep_module_paths(trace, before);
	keep_code_names(trace, before);
	for (size_t i = old->opening_damage; i < before->damage_count; i++)
		tpa_damage_add(trace, before->damage[i].offset, before->damage[i].lost_bytes, before->damage[i].reason);
}

bool tpa_trace_refresh(struct tpa_trace *trace, char **error)
{
	struct tpa_trace_impl *impl = tpa_impl(trace), *later;
	struct tpa_trace *read = tpa_trace_read(trace->file, dup(impl->fd), error);

	if (!read)
		return false;
	if (impl->jit_asked)
		tpa_jit_load(read, impl->jit_folder);
	later = tpa_impl(read);
	tpa_readers_save(impl);
	SWAP(*impl, *later);
	point_to_self(impl);
	point_to_self(later);
	keep(impl, later);
	tpa_chunks_keep(impl, &later->events);
	tpa_trace_close(&later->trace);
	tpa_readers_resume(impl);
	return true;
}
