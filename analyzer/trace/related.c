/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/related.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "trace/bundle.h"

#define PATH_LENGTH 4096

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *tpa_started_name(const char *started, const char *exe)
{
	return base_of(started[0] && strncmp(started, "/dev/fd/", 8) != 0 ? started : exe);
}

/* Copies a text of a header that was not checked. */
static void copy_text(const char *begin, size_t size, struct tprof_span span, char *text)
{
	size_t length = span.length < PATH_LENGTH - 1 ? span.length : PATH_LENGTH - 1;

	text[0] = '\0';
	if (span.offset + (uint64_t)length > size)
		return;
	memcpy(text, begin + span.offset, length);
	text[length] = '\0';
}

static char *name_of(const char *path, const struct tprof_header *header, uint64_t *bytes)
{
	char exe[PATH_LENGTH] = "", started[PATH_LENGTH] = "";
	char *begin = tpa_zalloc(1, TPROF_HEADER_SIZE);
	size_t size = tpa_trace_begin(path, begin, TPROF_HEADER_SIZE, bytes);

	copy_text(begin, size, header->text[TPROF_TEXT_EXE], exe);
	copy_text(begin, size, header->text[TPROF_TEXT_STARTED], started);
	free(begin);
	return tpa_strdup(tpa_started_name(started, exe));
}

/* ---- the traces in a folder ---- */

/* All traces of a folder whose names end alike: a run of many processes asks for them once a trace. */
struct folder {
	struct folder *next;
	char *prefix; /* of the files' names, up to the last slash; "" for the working directory */
	char *suffix; /* from the last dot on; "" if the names have none */
	struct tpa_other *list;
	size_t count, room;
};

static struct folder *folders; /* live until they are forgotten */

static void add(struct folder *folder, const char *path)
{
	struct tpa_other other;

	if (!tpa_trace_peek(path, &other.header))
		return;
	other.file = tpa_strdup(path);
	other.name = name_of(path, &other.header, &other.bytes);
	*TPA_APPEND(folder->list, folder->count, folder->room) = other;
}

static int by_size(const void *a, const void *b)
{
	const struct tpa_other *one = a, *other = b;

	if (one->bytes != other->bytes)
		return one->bytes < other->bytes ? 1 : -1;
	return strcmp(one->file, other->file);
}

static void say_nothing(const char *sentence)
{
	(void)sentence; /* who opened the bundle's traces has said it */
}

/* All traces of a bundle belong together, whatever they are called. */
static void look_in_bundle(struct folder *folder)
{
	char *bundle = tpa_bundle_of(folder->prefix), **list;
	size_t count = 0;

	list = bundle ? tpa_bundle_list(bundle, &count, say_nothing) : NULL;
	for (size_t i = 0; i < count; i++) {
		add(folder, list[i]);
		free(list[i]);
	}
	free(list);
	free(bundle);
}

/* Looks only at names that end as the trace's does: a directory may hold much else. */
static void look_through(struct folder *folder)
{
	DIR *directory = opendir(folder->prefix[0] ? folder->prefix : ".");
	size_t length = strlen(folder->suffix);
	char path[PATH_LENGTH];
	struct stat status;
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		size_t own = strlen(entry->d_name);

		if (own < length || strcmp(entry->d_name + own - length, folder->suffix) != 0 ||
		    (size_t)snprintf(path, sizeof(path), "%s%s", folder->prefix, entry->d_name) >= sizeof(path))
			continue;
		if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
			add(folder, path);
	}
	if (directory)
		closedir(directory);
	else if (errno == ENOTDIR)
		look_in_bundle(folder);
	if (folder->count)
		qsort(folder->list, folder->count, sizeof(*folder->list), by_size);
}

static const struct folder *folder_of(const char *prefix, const char *suffix)
{
	struct folder *folder = folders;

	while (folder && (strcmp(folder->prefix, prefix) != 0 || strcmp(folder->suffix, suffix) != 0))
		folder = folder->next;
	if (folder)
		return folder;
	folder = tpa_zalloc(1, sizeof(*folder));
	folder->prefix = tpa_strdup(prefix);
	folder->suffix = tpa_strdup(suffix);
	look_through(folder);
	folder->next = folders;
	folders = folder;
	return folder;
}

/* ---- those of one run ---- */

static bool is_other(const struct tprof_header *own, const struct tprof_header *header)
{
	return header->run == own->run && (header->pid != own->pid || header->start.ticks != own->start.ticks);
}

void tpa_others_find(const struct tpa_trace *trace, struct tpa_others *others)
{
	const char *base = base_of(trace->file), *suffix = strrchr(base, '.');
	const struct folder *folder;
	char prefix[PATH_LENGTH];

	*others = (struct tpa_others){ NULL, 0 };
	if (!trace->header->run ||
	    (size_t)snprintf(prefix, sizeof(prefix), "%.*s", (int)(base - trace->file), trace->file) >= sizeof(prefix))
		return;
	folder = folder_of(prefix, suffix ? suffix : "");
	others->list = tpa_zalloc(folder->count, sizeof(*others->list));
	for (size_t i = 0; i < folder->count; i++)
		if (is_other(trace->header, &folder->list[i].header))
			others->list[others->count++] = &folder->list[i];
}

void tpa_others_free(struct tpa_others *others)
{
	free((void *)others->list);
	*others = (struct tpa_others){ NULL, 0 };
}

void tpa_others_forget(void)
{
	while (folders) {
		struct folder *folder = folders;

		folders = folder->next;
		for (size_t i = 0; i < folder->count; i++) {
			free(folder->list[i].file);
			free(folder->list[i].name);
		}
		free(folder->list);
		free(folder->prefix);
		free(folder->suffix);
		free(folder);
	}
}
