/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/op_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbols/symbols.h"

/* What compilers make of a parallel region: its name says the function, or not even that; the line says which. */
static bool is_outlined(const char *name)
{
	return strstr(name, "_omp_fn") || strstr(name, "omp_outlined") || strstr(name, "_omp_cpyfn");
}

static void name_of(char *text, size_t size, const struct tp_symbol *symbol, const struct tp_frame *frame)
{
	const struct tp_location *own = &symbol->locations[symbol->count - 1];
	const char *file = own->file ? strrchr(own->file, '/') : NULL;

	file = file ? file + 1 : own->file;
	if (own->function && file && own->line && is_outlined(own->function))
		snprintf(text, size, "%s at %s:%d", own->function, file, own->line);
	else if (own->function)
		snprintf(text, size, "%s", own->function);
	else if (frame->module)
		snprintf(text, size, "%s+0x%" PRIx64, symbol->module, frame->pc - frame->module->bias);
	else
		snprintf(text, size, "0x%" PRIx64, frame->pc);
}

bool tp_op_names(struct tp_trace *trace, const char *debug_dir)
{
	struct tp_symbols_options options = { .debug_dir = debug_dir };
	struct tp_symbols *symbols = NULL;
	bool good = true;
	static const char part[] = ", a thread's part";
	char text[512];

	for (size_t i = 1; good && i < trace->op_count; i++) {
		uint32_t frame = trace->ops[i].name ? trace->ops[i].frame : 0;

		if (!frame || frame >= trace->frame_count || !trace->frames[frame].pc)
			continue;
		if (!symbols)
			symbols = tp_symbols_open(trace, &options);
		good = symbols != NULL;
		if (!good)
			break;
		name_of(text, sizeof(text) - sizeof(part), tp_symbols_frame(symbols, frame), &trace->frames[frame]);
		if (strcmp(trace->ops[i].category, "openmp part") == 0)
			strcat(text, part);
		good = tp_trace_rename_op(trace, i, text);
	}
	tp_symbols_close(symbols);
	return good;
}
