/* SPDX-License-Identifier: Apache-2.0 */
#include "model/growth/same_stacks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/order.h"
#include "trace/jitdump.h"

#define HASH_LEAST 8u	 /* letters and digits; a shorter word is a name with a number in it */
#define FRAMES_MAX 4096u /* deeper stacks are compared by their innermost frames */

/* ---- names without what a program makes anew: numbers, hashes, names of temporary files ---- */

static bool is_hex(const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isxdigit((unsigned char)word[i]))
			return false;
	return true;
}

/* Whether a word of letters and digits is a hash. */
static bool is_hash(const char *word, size_t length)
{
	size_t digits = 0, changes = 0;

	for (size_t i = 0; i < length; i++) {
		bool digit = isdigit((unsigned char)word[i]);

		digits += digit;
		changes += i && digit != !!isdigit((unsigned char)word[i - 1]);
	}
	return length >= HASH_LEAST && digits && (changes >= 2 || is_hex(word, length));
}

/*
 * Writes the loose form of a word to `to`, and returns its length. `line`: the word follows a colon, so a number is a
 * line.
 */
static size_t put_word(const char *word, size_t length, bool line, char *to)
{
	size_t put = 0;

	if (is_hash(word, length)) {
		*to = '#';
		return 1;
	}
	for (size_t i = 0; i < length; i++) {
		bool digit = isdigit((unsigned char)word[i]);

		if (!digit || (line && length == strspn(word, "0123456789")))
			to[put++] = word[i];
		else if (!put || to[put - 1] != '#')
			to[put++] = '#';
	}
	return put;
}

/* The length of the prefix, if `name` lies in a folder for temporary files; else 0. */
static size_t temporary(const char *name)
{
	static const char *const folders[] = { "/tmp/", "/var/tmp/", "/dev/shm/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (strncmp(name, folders[i], strlen(folders[i])) == 0)
			return strlen(folders[i]);
	return 0;
}

/* Writes "/tmp/#/#.so" for "/tmp/x/y.so", which is never longer. Returns how many bytes of the name were used. */
static size_t put_temporary(const char *name, char *to, size_t *put)
{
	size_t at = temporary(name), length = strlen(name);
	const char *last, *dot;

	if (!at)
		return 0;
	last = strrchr(name, '/') + 1; /* always found: the prefix ends in a slash */
	dot = strrchr(last, '.');
	memcpy(to, name, at);
	*put = at;
	while (at < length) {
		size_t part = strcspn(name + at, "/");

		if (part)
			to[(*put)++] = '#';
		at += part;
		if (name[at] == '/')
			to[(*put)++] = name[at++];
	}
	return dot && dot > last ? (size_t)(dot - name) : length;
}

char *tpa_alike_name(const char *name)
{
	char *text = tpa_zalloc(strlen(name) + 1, 1);
	size_t put = 0, at = put_temporary(name, text, &put);

	while (name[at]) {
		size_t word = 0;

		while (isalnum((unsigned char)name[at + word]))
			word++;
		if (word)
			put += put_word(name + at, word, at && name[at - 1] == ':', text + put);
		else
			text[put++] = name[at++];
		at += word;
	}
	text[put] = '\0';
	return text;
}

/* ---- hashes: two texts, or stacks, with the same one are taken for the same ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
	return mix(tpa_hash_text(hash, text), 1);
}

static uint64_t add_loose(uint64_t hash, const char *text)
{
	char *name = tpa_alike_name(text);

	hash = add_text(hash, name);
	free(name);
	return hash;
}

/* ---- modules ---- */

static bool same_file(const struct tpa_module *a, const struct tpa_module *b)
{
	return strcmp(a->path, b->path) == 0 && a->build_id_length == b->build_id_length &&
	       (!a->build_id_length || memcmp(a->build_id, b->build_id, a->build_id_length) == 0);
}

static uint64_t file_of(const struct tpa_module *module)
{
	uint64_t hash = add_text(2, module->path);

	for (size_t i = 0; i < module->build_id_length; i++)
		hash = mix(hash, module->build_id[i]);
	return hash;
}

struct named {
	uint64_t name;
	const struct tpa_module *module;
};

/*
 * Finds loose names that several files have. The list is sorted by name. If modules of one name are of different files,
 * an offset does not identify code.
 */
static void find_several(struct tpa_alike *alike, const struct named *list, size_t count)
{
	const struct tpa_module *first = alike->trace->modules;

	for (size_t from = 0, to; from < count; from = to) {
		bool several = false;

		for (to = from; to < count && list[to].name == list[from].name; to++)
			several = several || !same_file(list[from].module, list[to].module);
		for (size_t i = from; i < to; i++)
			alike->several[list[i].module - first] = several;
	}
}

static void name_modules(struct tpa_alike *alike)
{
	size_t count = alike->trace->module_count;
	struct named *list = tpa_zalloc(count, sizeof(*list));

	for (size_t i = 0; i < count; i++) {
		alike->modules[i] = add_loose(3, alike->trace->modules[i].path);
		list[i] = (struct named){ alike->modules[i], &alike->trace->modules[i] };
	}
	TPA_SORT(list, count, name);
	find_several(alike, list, count);
	free(list);
}

void tpa_alike_init(struct tpa_alike *alike, const struct tpa_trace *trace, const struct tpa_replay_options *options)
{
	*alike = (struct tpa_alike){ .trace = trace, .options = options };
	alike->exact = tpa_zalloc(trace->frame_count, sizeof(*alike->exact));
	alike->loose = tpa_zalloc(trace->frame_count, sizeof(*alike->loose));
	alike->modules = tpa_zalloc(trace->module_count, sizeof(*alike->modules));
	alike->several = tpa_zalloc(trace->module_count, sizeof(*alike->several));
	name_modules(alike);
}

void tpa_alike_free(struct tpa_alike *alike)
{
	free(alike->exact);
	free(alike->loose);
	free(alike->modules);
	free(alike->several);
}

/* ---- frames ---- */

static void set_python(struct tpa_alike *alike, uint32_t number, const struct tpa_frame *frame)
{
	const struct tpa_code *code = frame->code < alike->trace->code_count ? &alike->trace->codes[frame->code] : NULL;
	uint32_t line = code && !frame->line ? code->first_line : frame->line;

	if (!code || !code->name || !code->file) {
		alike->exact[number] = alike->loose[number] = mix(4, frame->code);
		return;
	}
	alike->exact[number] = mix(add_text(add_text(5, code->file), code->name), line);
	alike->loose[number] = mix(add_loose(add_loose(6, code->file), code->name), line);
}

/* Looks up the name of a frame. If it is unknown, `function` is NULL. */
static struct tpa_frame_name name_of(const struct tpa_alike *alike, uint32_t number, const struct tpa_frame *frame)
{
	const struct tpa_replay_options *options = alike->options;
	struct tpa_frame_name name = { NULL, 0 };

	if (frame->jit && alike->trace->jit)
		name.function = tpa_jit_code(alike->trace->jit, frame->jit)->name;
	else if (options->name_frame)
		name = options->name_frame(options->name_context, alike->trace, number);
	return name;
}

static void set_native(struct tpa_alike *alike, uint32_t number, const struct tpa_frame *frame)
{
	const struct tpa_module *module = frame->module;
	uint64_t offset = module ? frame->pc - module->bias : frame->pc;
	size_t index = module ? (size_t)(module - alike->trace->modules) : 0;
	struct tpa_frame_name name = { NULL, 0 };

	alike->exact[number] = alike->loose[number] = mix(module ? file_of(module) : 7, offset);
	if (module && !alike->several[index])
		return;
	name = name_of(alike, number, frame);
	if (name.function)
		alike->loose[number] =
			mix(add_loose(module ? alike->modules[index] : 8, name.function), (uint64_t)name.line);
	else
		alike->loose[number] = module ? mix(alike->modules[index], offset) : 9;
	if (name.function && !module)
		alike->exact[number] = mix(add_text(10, name.function), (uint64_t)name.line);
}

static void set_frame(struct tpa_alike *alike, uint32_t number)
{
	const struct tpa_frame *frame = &alike->trace->frames[number];

	if (alike->exact[number])
		return;
	if (frame->code)
		set_python(alike, number, frame);
	else
		set_native(alike, number, frame);
	alike->exact[number] |= 1; /* 0 means not computed yet */
}

/* ---- stacks ---- */

/*
 * Whether reports hide a frame. TPA_FRAMES_NATIVE hides Python frames. TPA_FRAMES_PYTHON hides native frames in stacks
 * that have Python frames. TPA_FRAMES_MIXED hides the interpreter's frames that are further out than a Python frame.
 */
static bool is_hidden(const struct tpa_alike *alike, const struct tpa_frame *frame, bool inside,
		      const struct tpa_module *interpreter, bool python)
{
	if (frame->code)
		return alike->options->frames == TPA_FRAMES_NATIVE;
	if (alike->options->frames == TPA_FRAMES_PYTHON)
		return python;
	return inside && alike->options->frames == TPA_FRAMES_MIXED && interpreter && frame->module == interpreter;
}

struct tpa_alike_stack tpa_alike_stack(struct tpa_alike *alike, uint32_t node, const char *op)
{
	const struct tpa_trace *trace = alike->trace;
	const struct tpa_module *interpreter = NULL;
	struct tpa_alike_stack stack = { 11, 11 };
	uint32_t frames[FRAMES_MAX], end;
	size_t count = tpa_trace_stack(trace, node, frames, FRAMES_MAX, &end);
	bool python = false, inside = false;

	count = count < FRAMES_MAX ? count : FRAMES_MAX;
	for (size_t i = 0; i < count; i++) {
		const struct tpa_frame *frame = &trace->frames[frames[i]];

		python = python || frame->code;
		if (!frame->code && frame->flags & TPROF_FRAME_LOOP && !interpreter)
			interpreter = frame->module;
	}
	for (size_t i = 0; i < count; i++) {
		const struct tpa_frame *frame = &trace->frames[frames[i]];

		if (!is_hidden(alike, frame, inside, interpreter, python)) {
			set_frame(alike, frames[i]);
			stack.exact = mix(stack.exact, alike->exact[frames[i]]);
			stack.loose = mix(stack.loose, alike->loose[frames[i]]);
		}
		inside = inside || frame->code;
	}
	stack.exact = add_text(mix(stack.exact, count ? end : node), op ? op : "");
	stack.loose = add_text(mix(stack.loose, count ? end : node), op ? op : "");
	return stack;
}
