/* SPDX-License-Identifier: Apache-2.0 */
#define UNW_LOCAL_ONLY
#include "stacknote.h"
#include "truth.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <stdarg.h>

enum { NOTES = 200, FRAMES = 128, FIRST_SIZE = 10000 };

static struct {
	const char *function;
	int count;
	void *frames[FRAMES];
} notes[NOTES];
static int note_count;

__attribute__((noinline)) size_t stack_note(const char *function)
{
	int i = note_count++;

	if (i >= NOTES)
		truth_die("too many notes");
	notes[i].function = function;
	notes[i].count = unw_backtrace(notes[i].frames, FRAMES);
	return (size_t)(FIRST_SIZE + i);
}

static char *add(char *at, const char *end, const char *format, ...) __attribute__((format(printf, 3, 4)));
static char *add(char *at, const char *end, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(at, (size_t)(end - at), format, arguments);
	va_end(arguments);
	if (n < 0 || n >= end - at)
		truth_die("the notes' text");
	return at + n;
}

static char *add_note(char *at, const char *end, int i)
{
	at = add(at, end, "%s{\"size\": %d, \"function\": \"%s\", \"frames\": [", i ? ",\n" : "", FIRST_SIZE + i,
		 notes[i].function);
	for (int f = 1; f < notes[i].count; f++) { /* 0 is stack_note itself */
		Dl_info info = { 0 };

		dladdr(notes[i].frames[f], &info);
		at = add(at, end, "%s[\"%s\", %td]", f > 1 ? ", " : "", info.dli_fname ? info.dli_fname : "",
			 (char *)notes[i].frames[f] - (char *)info.dli_fbase);
	}
	return add(at, end, "]}");
}

void stack_notes_write(void)
{
	static char text[1 << 20];
	char *at = text, *end = text + sizeof(text);

	at = add(at, end, "{\"stacks\": [");
	for (int i = 0; i < note_count; i++)
		at = add_note(at, end, i);
	at = add(at, end, "]}\n");
	truth_write_text("", text, (size_t)(at - text));
}
