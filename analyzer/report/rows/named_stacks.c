/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/named_stacks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SEVERAL ""

void tpa_named_init(struct tpa_named_stacks *stacks)
{
	*stacks = (struct tpa_named_stacks){ .arena = tpa_arena_new(), .name_count = 1, .node_count = 1 };
	tpa_grow(&stacks->names, &stacks->name_room, 1, sizeof(*stacks->names));
	tpa_grow(&stacks->nodes, &stacks->node_room, 1, sizeof(*stacks->nodes));
	stacks->names[0] = (struct tpa_named){ NULL, "", false };
	stacks->nodes[0] = (struct tpa_named_node){ 0, 0 };
}

void tpa_named_free(struct tpa_named_stacks *stacks)
{
	tpa_arena_free(stacks->arena);
	tpa_pairs_free(&stacks->texts);
	tpa_pairs_free(&stacks->locations);
	tpa_pairs_free(&stacks->children);
	free(stacks->names);
	free(stacks->nodes);
	memset(stacks, 0, sizeof(*stacks));
}

void tpa_named_process(struct tpa_named_stacks *stacks, const struct tpa_trace *trace)
{
	const char *program = tpa_file_name(trace->exe);

	tpa_pairs_free(&stacks->locations);
	stacks->locations = (struct tpa_pairs){ 0 };
	stacks->trace = trace;
	if (!stacks->program)
		stacks->program = tpa_arena_intern(stacks->arena, program);
	else if (strcmp(stacks->program, program) != 0)
		stacks->program = SEVERAL;
}

/* ---- names ---- */

/* Length of a name without Rust's hash of the function's types and body: "::h" and 16 hexadecimal digits at the end. */
static size_t without_hash(const char *name, size_t length)
{
	if (length < 19 || strncmp(name + length - 19, "::h", 3) != 0)
		return length;
	for (size_t i = length - 16; i < length; i++)
		if (!isxdigit((unsigned char)name[i]))
			return length;
	return length - 19;
}

/* Does `behind`, the text after a compiler's suffix, end the suffix: a number, another suffix, or nothing? */
static bool ends_name(const char *behind)
{
	return !*behind || isdigit((unsigned char)*behind) || strchr(".@ ", *behind) != NULL;
}

/* Length of the part of a function's name that was in the source. */
static size_t own_length(const char *name)
{
	static const char *const added[] = { " [clone",	   ".constprop.", ".isra.",	 ".part.", ".cold",
					     ".lto_priv.", ".llvm.",	  ".localalias", "@",	   NULL };
	size_t length = strlen(name);

	for (size_t i = 0; added[i]; i++) {
		const char *at = strstr(name, added[i]);

		if (at && at > name && (size_t)(at - name) < length &&
		    (added[i][0] == '@' || ends_name(at + strlen(added[i]))))
			length = (size_t)(at - name);
	}
	return without_hash(name, length);
}

/*
 * Removes versions from a library's file name: "libx.so.1.2" and "x.cpython-311-x86_64-linux-gnu.so" become "libx.so" and "x.so".
 * The caller frees the result.
 */
static char *module_named(const char *file)
{
	const char *so = strstr(file, ".so"), *abi = strstr(file, ".cpython-");

	if (!so || (so[3] != '\0' && so[3] != '.'))
		return tpa_strdup(file);
	return tpa_format("%.*s.so", (int)((abi && abi < so ? abi : so) - file), file);
}

/* The interned text that identifies a name: equal names have the same pointer. */
static const char *key_of(struct tpa_named_stacks *stacks, const struct tpa_named *name)
{
	char *text = tpa_format("%c%s\n%s", name->python ? 'p' : 'n', name->module ? name->module : "\1",
				name->function ? name->function : "\1");
	const char *key = tpa_arena_intern(stacks->arena, text);

	free(text);
	return key;
}

static uint32_t add_name(struct tpa_named_stacks *stacks, const struct tpa_named *name)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&stacks->texts, (uintptr_t)key_of(stacks, name), 0, &found);

	if (!found) {
		tpa_grow(&stacks->names, &stacks->name_room, stacks->name_count + 1, sizeof(*name));
		*number = (uint32_t)stacks->name_count;
		stacks->names[stacks->name_count++] =
			(struct tpa_named){ tpa_arena_intern(stacks->arena, name->function),
					    tpa_arena_intern(stacks->arena, name->module), name->python };
	}
	return *number;
}

/* Names are not shortened: two instances of a template may differ only at the end. */
static uint32_t name_of(struct tpa_named_stacks *stacks, const struct tpa_line *line)
{
	const struct tpa_location *location = line->location;
	const char *text = location->function;
	char *function = text ? tpa_strndup(text, location->python ? strlen(text) : own_length(text)) : NULL;
	char *module = module_named(location->python ? tpa_file_name(line->symbol->path) : line->symbol->module);
	bool own = !location->python && strcmp(line->symbol->path, stacks->trace->exe) == 0;
	uint32_t number = add_name(stacks, &(struct tpa_named){ function, own ? NULL : module, location->python });

	free(function);
	free(module);
	return number;
}

uint32_t tpa_named_line(struct tpa_named_stacks *stacks, const struct tpa_line *line)
{
	bool found;
	uint32_t *known = tpa_pairs_at(&stacks->locations, (uintptr_t)line->location, 0, &found);

	if (!found)
		*known = name_of(stacks, line);
	return *known;
}

uint32_t tpa_named_text(struct tpa_named_stacks *stacks, const char *text)
{
	return add_name(stacks, &(struct tpa_named){ .function = text, .module = "" });
}

uint32_t tpa_named_module_of(struct tpa_named_stacks *stacks, uint32_t name)
{
	return add_name(stacks, &(struct tpa_named){ .module = stacks->names[name].module });
}

/* ---- stacks ---- */

/*
 * Finds a repeat at the inner end of `stack` followed by `name`. Returns the length of the shortest chain of names that stands
 * there twice in a row; 0: none.
 */
static size_t repeated(const struct tpa_named_stacks *stacks, uint32_t stack, uint32_t name)
{
	uint32_t names[2 * TPA_NAMED_CYCLE] = { name };
	size_t count = 1;

	for (; stack && count < 2 * TPA_NAMED_CYCLE; stack = stacks->nodes[stack].parent)
		names[count++] = stacks->nodes[stack].name;
	for (size_t k = 1; 2 * k <= count; k++)
		if (memcmp(names, names + k, k * sizeof(*names)) == 0)
			return k;
	return 0;
}

static uint32_t new_node(struct tpa_named_stacks *stacks, uint32_t parent, uint32_t name)
{
	size_t back = repeated(stacks, parent, name);

	if (back) { /* the new node completes a repeat: go back to the end of the first occurrence */
		while (--back)
			parent = stacks->nodes[parent].parent;
		return parent;
	}
	tpa_grow(&stacks->nodes, &stacks->node_room, stacks->node_count + 1, sizeof(*stacks->nodes));
	stacks->nodes[stacks->node_count] = (struct tpa_named_node){ parent, name };
	return (uint32_t)stacks->node_count++;
}

uint32_t tpa_named_call(struct tpa_named_stacks *stacks, uint32_t stack, uint32_t name)
{
	bool found;
	uint32_t *child = tpa_pairs_at(&stacks->children, stack, name, &found);

	if (!found)
		*child = new_node(stacks, stack, name);
	return *child;
}

uint32_t tpa_named_stack(struct tpa_named_stacks *stacks, const struct tpa_stack *stack, size_t first)
{
	uint32_t node = 0;

	for (size_t i = stack->last; i-- > first;)
		node = tpa_named_call(stacks, node, tpa_named_line(stacks, &stack->lines[i]));
	return node;
}

/* ---- printing ---- */

const char *tpa_named_module(const struct tpa_named_stacks *stacks, const struct tpa_named *name)
{
	if (name->module)
		return name->module;
	return stacks->program && *stacks->program ? stacks->program : "(program)";
}

char *tpa_named_whole(const struct tpa_named_stacks *stacks, uint32_t name)
{
	const struct tpa_named *named = &stacks->names[name];
	const char *module = tpa_named_module(stacks, named);

	return tpa_format("%s%s%s", named->function ? named->function : "?", *module ? " in " : "", module);
}
