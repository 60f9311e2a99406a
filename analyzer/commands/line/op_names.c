/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/line/op_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbols/embedded.h"
#include "symbols/schemas.h"
#include "symbols/symbols.h"

/* ---- names from a function's address ---- */

/*
 * Is it a compiler's function for a parallel region? Its name contains the source function's name at most; the line
 * tells which region.
 */
static bool is_outlined(const char *name)
{
	return strstr(name, "_omp_fn") || strstr(name, "omp_outlined") || strstr(name, "_omp_cpyfn");
}

/* clang gives all of them the same name; gcc's contain the function's name. */
static bool is_nameless(const char *name)
{
	return strncmp(name, ".omp_outlined", strlen(".omp_outlined")) == 0;
}

static void name_of(char *text, size_t size, const struct tpa_op *op, const struct tpa_symbol *symbol,
		    const struct tpa_frame *frame)
{
	const struct tpa_location *own = &symbol->locations[symbol->count - 1];
	const char *what = strncmp(op->category, "openmp", strlen("openmp")) == 0 ? "parallel region at " : "";
	const char *file = own->file ? strrchr(own->file, '/') : NULL;

	file = file ? file + 1 : own->file;
	if (own->function && file && own->line && is_outlined(own->function))
		snprintf(text, size, "%s at %s:%d", own->function, file, own->line);
	else if (own->function && frame->module && is_nameless(own->function))
		snprintf(text, size, "%s at %s+0x%" PRIx64, own->function, symbol->module,
			 frame->pc - frame->module->bias);
	else if (own->function)
		snprintf(text, size, "%s", own->function);
	else if (frame->module)
		snprintf(text, size, "%s%s+0x%" PRIx64, what, symbol->module, frame->pc - frame->module->bias);
	else
		snprintf(text, size, "%s0x%" PRIx64, what, frame->pc);
}

static void name_by_address(struct tpa_trace *trace, const char *debug_dir)
{
	struct tpa_symbols_options options = { .debug_dir = debug_dir };
	struct tpa_symbols *symbols = NULL;
	static const char part[] = TPA_REGION_PART;
	char text[512];

	for (size_t i = 1; i < trace->op_count; i++) {
		uint32_t frame = trace->ops[i].name ? trace->ops[i].frame : 0;
		const struct tpa_symbol *symbol;

		if (!frame || frame >= trace->frame_count || !trace->frames[frame].pc)
			continue;
		if (!symbols)
			symbols = tpa_symbols_open(trace, &options);
		symbol = tpa_symbols_frame(symbols, frame);
		name_of(text, sizeof(text) - sizeof(part), &trace->ops[i], symbol, &trace->frames[frame]);
		trace->ops[i].has_symbol = symbol->locations[symbol->count - 1].function != NULL;
		if (strcmp(trace->ops[i].category, "openmp part") == 0)
			strcat(text, part);
		tpa_trace_rename_op(trace, i, text);
	}
	tpa_symbols_close(symbols);
}

/* ---- torch's names ---- */

#define TORCH_SPACE "aten::"

/*
 * Maps aten::add.Tensor and aten::add_Tensor (the collector's name for at::_ops::add_Tensor) to the function's name;
 * "" if the op is not torch's.
 */
static void function_of(const struct tpa_op *op, char *function)
{
	size_t space = strlen(TORCH_SPACE);

	function[0] = 0;
	if (strcmp(op->category, "torch") != 0 || strncmp(op->name, TORCH_SPACE, space) != 0 ||
	    strlen(op->name + space) >= TPA_SCHEMA_MAX)
		return;
	for (const char *name = op->name + space; *name; name++)
		*function++ = *name == '.' ? '_' : *name;
	*function = 0;
}

static void rename_to(struct tpa_trace *trace, size_t op, const struct tpa_schema *schema)
{
	char text[TPA_SCHEMA_MAX + sizeof(TORCH_SPACE)];
	const char *name = trace->ops[op].name;

	if (!schema->name[0] || !name || strcmp(schema->name, name + strlen(TORCH_SPACE)) == 0)
		return;
	snprintf(text, sizeof(text), TORCH_SPACE "%s", schema->name);
	tpa_trace_rename_op(trace, op, text);
}

static void find_schemas(const struct tpa_trace *trace, const char *debug_dir, struct tpa_schema *schemas)
{
	bool found = false;

	for (size_t i = 0; i < trace->module_count; i++) {
		if (!tpa_schemas_in(&trace->modules[i]))
			continue;
		tpa_schemas_find(&trace->modules[i], debug_dir, schemas, trace->op_count);
		found = true;
	}
	/*
	 * Modules come from stacks. If no stack goes through libtorch, the hooks' list has its path, but no build-id.
	 */
	for (size_t i = 0; !found && i < trace->hooks_count; i++) {
		struct tpa_module hooked = { .path = trace->hooks[i].object };

		found = tpa_schemas_in(&hooked);
		if (found)
			tpa_schemas_find(&hooked, debug_dir, schemas, trace->op_count);
	}
}

/* Done here and not in the program, which would have to read 10 MB for it. */
static void name_by_schema(struct tpa_trace *trace, const char *debug_dir)
{
	struct tpa_schema *schemas = tpa_zalloc(trace->op_count, sizeof(*schemas));
	bool any = false;

	for (size_t i = 1; i < trace->op_count; i++) {
		if (trace->ops[i].name)
			function_of(&trace->ops[i], schemas[i].function);
		any = any || schemas[i].function[0];
	}
	if (any)
		find_schemas(trace, debug_dir, schemas);
	for (size_t i = 1; any && i < trace->op_count; i++)
		rename_to(trace, i, &schemas[i]);
	free(schemas);
}

/* ---- names in the trace ---- */

/* False: a compact trace did not bring them along. */
static bool name_by_trace(struct tpa_trace *trace)
{
	struct tpa_embedded *embedded = tpa_embedded_open(trace);
	const struct tpa_embedded_op *ops;
	size_t count;

	if (!embedded)
		return false;
	ops = tpa_embedded_ops(embedded, &count);
	for (size_t i = 0; i < count; i++) {
		if (ops[i].op >= trace->op_count || !trace->ops[ops[i].op].name)
			continue;
		trace->ops[ops[i].op].has_symbol = ops[i].has_symbol;
		tpa_trace_rename_op(trace, ops[i].op, ops[i].name);
	}
	tpa_embedded_close(embedded);
	return true;
}

void tpa_op_names(struct tpa_trace *trace, const char *debug_dir)
{
	if (!name_by_trace(trace)) {
		name_by_address(trace, debug_dir);
		name_by_schema(trace, debug_dir);
	}
	tpa_trace_split_regions(trace);
}
