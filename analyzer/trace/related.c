/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/related.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

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

/* Reads a text of a header that was not checked. */
static void read_text(FILE *file, struct tprof_span span, char *text)
{
	size_t length = span.length < PATH_LENGTH - 1 ? span.length : PATH_LENGTH - 1;

	text[0] = '\0';
	if (span.offset + (uint64_t)length <= TPROF_HEADER_SIZE && fseek(file, (long)span.offset, SEEK_SET) == 0)
		text[fread(text, 1, length, file)] = '\0';
}

static char *name_of(const char *path, const struct tprof_header *header)
{
	char exe[PATH_LENGTH] = "", started[PATH_LENGTH] = "";
	FILE *file = fopen(path, "re");

	if (file) {
		read_text(file, header->text[TPROF_TEXT_EXE], exe);
		read_text(file, header->text[TPROF_TEXT_STARTED], started);
		fclose(file);
	}
	return tpa_strdup(tpa_started_name(started, exe));
}

static bool is_other(const struct tprof_header *own, const struct tprof_header *header)
{
	return header->run == own->run && (header->pid != own->pid || header->start.ticks != own->start.ticks);
}

static void add(struct tpa_others *others, size_t *room, const struct tprof_header *own, const char *path)
{
	struct tpa_other other;
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || !tpa_trace_peek(path, &other.header) ||
	    !is_other(own, &other.header))
		return;
	other.bytes = (uint64_t)status.st_size;
	other.file = tpa_strdup(path);
	other.name = name_of(path, &other.header);
	tpa_grow(&others->list, room, others->count + 1, sizeof(*others->list));
	others->list[others->count++] = other;
}

static int by_size(const void *a, const void *b)
{
	const struct tpa_other *one = a, *other = b;

	if (one->bytes != other->bytes)
		return one->bytes < other->bytes ? 1 : -1;
	return strcmp(one->file, other->file);
}

/* Looks only at names that end as this trace's does: a directory may hold much else. */
static void look_through(DIR *directory, const char *prefix, const struct tpa_trace *trace, struct tpa_others *others)
{
	const char *suffix = strrchr(base_of(trace->file), '.');
	size_t length = suffix ? strlen(suffix) : 0, room = 0;
	char path[PATH_LENGTH];
	struct dirent *entry;

	while ((entry = readdir(directory))) {
		size_t own = strlen(entry->d_name);

		if (own < length || (suffix && strcmp(entry->d_name + own - length, suffix) != 0) ||
		    (size_t)snprintf(path, sizeof(path), "%s%s", prefix, entry->d_name) >= sizeof(path))
			continue;
		add(others, &room, trace->header, path);
	}
}

void tpa_others_find(const struct tpa_trace *trace, struct tpa_others *others)
{
	const char *base = base_of(trace->file);
	char prefix[PATH_LENGTH];
	DIR *directory;

	*others = (struct tpa_others){ NULL, 0 };
	if (!trace->header->run ||
	    (size_t)snprintf(prefix, sizeof(prefix), "%.*s", (int)(base - trace->file), trace->file) >= sizeof(prefix))
		return;
	directory = opendir(prefix[0] ? prefix : ".");
	if (!directory)
		return;
	look_through(directory, prefix, trace, others);
	closedir(directory);
	if (others->count)
		qsort(others->list, others->count, sizeof(*others->list), by_size);
}

void tpa_others_free(struct tpa_others *others)
{
	for (size_t i = 0; i < others->count; i++) {
		free(others->list[i].file);
		free(others->list[i].name);
	}
	free(others->list);
	*others = (struct tpa_others){ NULL, 0 };
}
