/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/own_code.h"

#include <string.h>

/* Is the program on the command line: `python -c`, `python -W error -Bc`? Not so for `python -m MODULE`, `python -O FILE`. */
static bool is_on_command_line(const struct tpa_trace *trace)
{
	for (size_t i = 1; i < trace->arg_count && trace->args[i][0] == '-' && trace->args[i][1]; i++) {
		const char *option = trace->args[i];
		char last = option[strlen(option) - 1];

		if (option[1] != '-' && (last == 'c' || last == 'm'))
			return last == 'c';
		i += strcmp(option, "-W") == 0 || strcmp(option, "-X") == 0;
	}
	return false;
}

/* Is it code without a file that the user typed: `python -c`, a prompt, a notebook? Libraries also generate "<string>". */
static bool is_typed(const struct tpa_trace *trace, const char *file)
{
	if (strcmp(file, "<stdin>") == 0 || strncmp(file, "<ipython-input", strlen("<ipython-input")) == 0)
		return true;
	return strcmp(file, "<string>") == 0 && is_on_command_line(trace);
}

bool tpa_line_is_own(const struct tpa_stack *stack, const struct tpa_line *line)
{
	const struct tpa_location *location = line->location;

	if (location->python)
		return location->file && (!location->known.installed || is_typed(stack->trace, location->file));
	if (tpa_line_is_interpreters(stack, line)) /* a user may have built it himself */
		return false;
	if (location->known.plumbing || location->known.allocator || location->known.start)
		return false;
	if (location->known.system_file)
		return false;
	return line->module && line->symbol->path[0] && !line->symbol->system;
}

const struct tpa_line *tpa_stack_user_line(const struct tpa_stack *stack)
{
	for (size_t i = stack->first; i < stack->last; i++)
		if (stack->lines[i].location->file && tpa_line_is_own(stack, &stack->lines[i]))
			return &stack->lines[i];
	return NULL;
}
