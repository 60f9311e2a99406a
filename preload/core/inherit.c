/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inherit.h"

#include "core/config.h"
#include "core/objects.h"
#include "core/sys.h"
#include "core/text.h"

#include <link.h>

#define PRELOAD "LD_PRELOAD="
#define KEPT_MAX 24u

static char library[2048]; /* "": nothing is passed on */
static const char *kept[KEPT_MAX];
static size_t kept_count;

static bool same_name(const char *one, const char *other)
{
	size_t length = strcspn(one, "=");

	return strncmp(one, other, length) == 0 && other[length] == '=';
}

static bool begins(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* Does the list, separated by colons or blanks, contain libtprof.so? */
static bool names_library(const char *list)
{
	const char *base = tpc_text_base(library);
	size_t length = strlen(base);

	for (const char *at = strstr(list, base); at; at = strstr(at + 1, base)) {
		char before = at == list ? ':' : at[-1], behind = at[length];

		if ((before == ':' || before == ' ' || before == '/') && (!behind || behind == ':' || behind == ' '))
			return true;
	}
	return false;
}

/* Absolute, because a program may be started in another directory. */
static bool find_library(void)
{
	struct tpc_text text = tpc_text_in(library, sizeof(library));
	struct dl_find_object object;
	const char *own;

	if (!tpc_object_find((uintptr_t)library, &object) || !object.dlfo_link_map)
		return false;
	own = object.dlfo_link_map->l_name;
	if (own[0] != '/') {
		long length = tpc_sys_getcwd(library, sizeof(library));

		if (length <= 0)
			return false;
		text.length = (size_t)length - 1;
		tpc_text_add(&text, "/");
	}
	tpc_text_add(&text, own);
	return !text.cut && !strchr(library, ' ') && !strchr(library, ':');
}

static void keep(struct tpc_text *copies, const char *variable)
{
	const char *copy = copies->bytes + copies->length;

	if (kept_count == KEPT_MAX || copies->cut)
		return;
	tpc_text_add(copies, variable);
	tpc_text_add_bytes(copies, "", 1);
	if (!copies->cut)
		kept[kept_count++] = copy;
}

static void keep_run(struct tpc_text *copies)
{
	char variable[40];
	struct tpc_text text = tpc_text_in(variable, sizeof(variable));

	for (size_t i = 0; i < kept_count; i++) {
		if (begins(kept[i], "TPROF_RUN="))
			return;
	}
	tpc_text_add(&text, "TPROF_RUN=");
	for (int shift = 60; shift >= 0; shift -= 4)
		tpc_text_add_bytes(&text, &"0123456789abcdef"[tpc_config.run >> shift & 15], 1);
	keep(copies, variable);
}

/* Copies, because programs overwrite their environment to change their title. */
void tpc_inherit_start(char *const *environment)
{
	static char bytes[8192];
	struct tpc_text copies = tpc_text_in(bytes, sizeof(bytes));
	bool preloaded = false, found = find_library();

	for (; found && environment && *environment; environment++) {
		const char *variable = *environment;
		bool collector =
			begins(variable, "INTEL_LIBITTNOTIFY64=") || begins(variable, "NVTX_INJECTION64_PATH=");

		if (begins(variable, PRELOAD))
			preloaded |= names_library(variable + strlen(PRELOAD));
		else if (begins(variable, "TPROF_") || (collector && names_library(strchr(variable, '=') + 1)))
			keep(&copies, variable);
	}
	if (preloaded)
		keep_run(&copies);
	else
		library[0] = 0;
}

const char *tpc_inherit_library(void)
{
	return library[0] ? library : NULL;
}

bool tpc_inherit_is_in(char *const *environment)
{
	if (!library[0])
		return true;
	for (; environment && *environment; environment++) {
		if (begins(*environment, PRELOAD)) /* the first one counts */
			return names_library(*environment + strlen(PRELOAD));
	}
	return false;
}

static const char *preload_of(const char *theirs, struct tpc_inherit *room)
{
	struct tpc_text text = tpc_text_in(room->preload, sizeof(room->preload));

	tpc_text_add(&text, PRELOAD);
	tpc_text_add(&text, library);
	if (theirs && *theirs) {
		tpc_text_add(&text, ":");
		tpc_text_add(&text, theirs);
	}
	return text.cut ? NULL : room->preload;
}

static const char **list_of(struct tpc_inherit *room, size_t count)
{
	void *p;

	if (count <= TPC_LENGTH(room->list))
		return room->list;
	p = tpc_sys_mmap(count * sizeof(char *), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (tpc_sys_failed(p))
		return NULL;
	room->mapped = p;
	room->mapped_bytes = count * sizeof(char *);
	return p;
}

/* Copies the list, with our LD_PRELOAD in place of theirs. */
static size_t copy(const char **list, char *const *environment, size_t count, struct tpc_inherit *room)
{
	bool preloaded = false;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const char *variable = environment[i], *ours = NULL;

		if (!preloaded && begins(variable, PRELOAD)) {
			preloaded = true;
			if (!names_library(variable + strlen(PRELOAD)))
				ours = preload_of(variable + strlen(PRELOAD), room);
		}
		list[n++] = ours ? ours : variable;
	}
	if (!preloaded)
		list[n++] = preload_of(NULL, room);
	return n;
}

static bool has(const char **list, size_t count, const char *variable)
{
	for (size_t i = 0; i < count; i++) {
		if (same_name(variable, list[i]))
			return true;
	}
	return false;
}

char *const *tpc_inherit(char *const *environment, struct tpc_inherit *room)
{
	size_t count = 0, n, own;
	const char **list;

	room->mapped = NULL;
	while (environment && environment[count])
		count++;
	list = library[0] ? list_of(room, count + kept_count + 2) : NULL;
	if (!list)
		return environment;
	n = own = copy(list, environment, count, room);
	for (size_t i = 0; i < kept_count; i++) {
		if (!has(list, own, kept[i]))
			list[n++] = kept[i];
	}
	list[n] = NULL;
	return (char *const *)list;
}

/* What else is preloaded. NULL: nothing. */
static const char *preload_without(const char *theirs, struct tpc_inherit *room)
{
	struct tpc_text text = tpc_text_in(room->preload, sizeof(room->preload));
	bool any = false;

	tpc_text_add(&text, PRELOAD);
	for (const char *at = theirs; *at;) {
		size_t length = strcspn(at, ": "), name = length;

		while (name > 0 && at[name - 1] != '/')
			name--;
		if (length > 0 && (strlen(tpc_text_base(library)) != length - name ||
				   memcmp(at + name, tpc_text_base(library), length - name) != 0)) {
			tpc_text_add(&text, any ? ":" : "");
			tpc_text_add_bytes(&text, at, length);
			any = true;
		}
		at += length + (at[length] != 0);
	}
	return any && !text.cut ? room->preload : NULL;
}

char *const *tpc_inherit_without(char *const *environment, struct tpc_inherit *room)
{
	size_t count = 0, n = 0;
	const char **list;

	room->mapped = NULL;
	while (environment && environment[count])
		count++;
	list = library[0] ? list_of(room, count + 1) : NULL;
	if (!list)
		return environment;
	for (size_t i = 0; i < count; i++) {
		const char *variable = environment[i];

		if (begins(variable, PRELOAD))
			variable = preload_without(variable + strlen(PRELOAD), room);
		if (variable)
			list[n++] = variable;
	}
	list[n] = NULL;
	return (char *const *)list;
}

void tpc_inherit_end(struct tpc_inherit *room)
{
	if (room->mapped)
		tpc_sys_munmap(room->mapped, room->mapped_bytes);
	room->mapped = NULL;
}
