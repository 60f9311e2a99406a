/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/name_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/archive.h"
#include "base/cache_folder.h"
#include "base/memory.h"
#include "base/order.h"
#include "symbols/names.h"

#define FORMAT 1u		      /* increase it when the meaning of a field changes */
#define BUILD_ID_MOST 64u	      /* bytes: the name of a file has at most 255 */
#define FILE_MOST (UINT64_C(8) << 20) /* bytes */
#define FRESH_S (24 * 60 * 60)	      /* a file that was used within this time need not be marked as used */

/* ---- the list ---- */

void tpa_place_add(struct tpa_place_list *list, uint64_t address, const struct tpa_location *locations, size_t count)
{
	struct tpa_place *place;

	tpa_grow(&list->locations, &list->location_room, list->location_count + count, sizeof(*list->locations));
	memcpy(list->locations + list->location_count, locations, count * sizeof(*locations));
	place = TPA_APPEND(list->places, list->count, list->room);
	*place = (struct tpa_place){ address, (uint32_t)list->location_count, (uint32_t)count };
	list->location_count += count;
	tpa_pairs_set(&list->index, address, 0, (uint32_t)list->count);
}

void tpa_place_list_free(struct tpa_place_list *list)
{
	tpa_pairs_free(&list->index);
	free(list->places);
	free(list->locations);
	tpa_witnesses_free(&list->witnesses);
	*list = (struct tpa_place_list){ .state = TPA_MODULE_OK };
}

/* ---- the form in the file ---- */

struct head {
	uint32_t format, state;
	struct tpa_file_identity analyzer; /* another analyzer may find other names */
	char elfutils[16];
};

/* Texts by number: 0 is no text, n the n-th of the texts, which end with 0 each. */
struct location {
	uint32_t function, linkage, file, inlined;
	int32_t line;
};

struct witness {
	uint32_t path, reserved;
	struct tpa_file_identity file;
};

struct content {
	struct head head;
	struct tpa_place *places;
	size_t place_count;
	struct location *locations;
	size_t location_count;
	struct witness *witnesses;
	size_t witness_count;
	char *texts;
	size_t text_bytes, text_room;
};

/* Saves or loads. */
static void archive_content(struct tpa_archive *archive, struct content *content)
{
	TPA_ARCHIVE(archive, content->head);
	tpa_archive_array(archive, &content->places, &content->place_count, NULL, sizeof(*content->places));
	tpa_archive_array(archive, &content->locations, &content->location_count, NULL, sizeof(*content->locations));
	tpa_archive_array(archive, &content->witnesses, &content->witness_count, NULL, sizeof(*content->witnesses));
	tpa_archive_array(archive, &content->texts, &content->text_bytes, &content->text_room, 1);
}

static void free_content(struct content *content)
{
	free(content->places);
	free(content->locations);
	free(content->witnesses);
	free(content->texts);
}

static struct head head_of(enum tpa_module_state state)
{
	static struct tpa_file_identity analyzer;
	struct head head = { .format = FORMAT, .state = (uint32_t)state };

	if (!analyzer.inode)
		analyzer = tpa_file_identity("/proc/self/exe");
	head.analyzer = analyzer;
	snprintf(head.elfutils, sizeof(head.elfutils), "%s", dwfl_version(NULL));
	return head;
}

/* ---- reading ---- */

/* Reads a whole file, as a mapped one could be cut meanwhile. Returns NULL if there is none. The caller frees it. */
static uint8_t *read_whole(const char *file, size_t *size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat status;
	uint8_t *bytes = NULL;
	ssize_t got;

	*size = 0;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (uint64_t)status.st_size <= FILE_MOST) {
		bytes = tpa_zalloc((size_t)status.st_size + 1, 1);
		while (*size < (size_t)status.st_size &&
		       (got = read(fd, bytes + *size, (size_t)status.st_size - *size)) > 0)
			*size += (size_t)got;
		if (time(NULL) - status.st_mtim.tv_sec > FRESH_S)
			futimens(fd, NULL);
	}
	close(fd);
	return bytes;
}

/* Lists the texts; list[0] is NULL. The caller frees the list. */
static const char **list_texts(const struct content *content, struct tpa_arena *arena, size_t *count)
{
	const char **list = NULL;
	size_t room = 0;

	*count = 0;
	*TPA_APPEND(list, *count, room) = NULL;
	for (size_t at = 0; at < content->text_bytes; at += strlen(content->texts + at) + 1)
		*TPA_APPEND(list, *count, room) = tpa_arena_intern(arena, content->texts + at);
	return list;
}

static bool take_witnesses(const struct content *content, const char *const *texts, size_t text_count,
			   struct tpa_place_list *list)
{
	for (size_t i = 0; i < content->witness_count; i++) {
		const struct witness *from = &content->witnesses[i];

		if (!from->path || from->path >= text_count)
			return false;
		*TPA_APPEND(list->witnesses.list, list->witnesses.count, list->witnesses.room) =
			(struct tpa_witness){ tpa_strdup(texts[from->path]), from->file };
	}
	return list->witnesses.count && tpa_witnesses_hold(&list->witnesses);
}

static bool take_place(const struct content *content, const struct tpa_place *place, const char *const *texts,
		       size_t text_count, struct tpa_place_list *list)
{
	struct tpa_location locations[TPA_INLINED_MAX];

	if (!place->count || place->count > TPA_INLINED_MAX || place->first > content->location_count ||
	    content->location_count - place->first < place->count)
		return false;
	for (size_t i = 0; i < place->count; i++) {
		const struct location *from = &content->locations[place->first + i];

		if (from->function >= text_count || from->linkage >= text_count || from->file >= text_count)
			return false;
		locations[i] = (struct tpa_location){ .function = texts[from->function],
						      .linkage = texts[from->linkage],
						      .file = texts[from->file],
						      .line = from->line,
						      .inlined = from->inlined != 0 };
	}
	tpa_place_add(list, place->address, locations, place->count);
	return true;
}

static bool take(const struct content *content, struct tpa_arena *arena, struct tpa_place_list *list)
{
	const struct head expected = head_of((enum tpa_module_state)content->head.state);
	size_t text_count;
	const char **texts;
	bool good;

	if (memcmp(&expected, &content->head, sizeof(expected)) != 0 || content->head.state > TPA_MODULE_UNREADABLE)
		return false;
	texts = list_texts(content, arena, &text_count);
	good = take_witnesses(content, texts, text_count, list);
	for (size_t i = 0; good && i < content->place_count; i++)
		good = take_place(content, &content->places[i], texts, text_count, list);
	free((void *)texts);
	list->state = (enum tpa_module_state)content->head.state;
	return good;
}

bool tpa_name_cache_read(const char *file, struct tpa_arena *arena, struct tpa_place_list *list)
{
	struct tpa_archive archive = { .loading = true };
	struct content content = { .places = NULL };
	size_t size;
	uint8_t *bytes = read_whole(file, &size);
	bool good = bytes && tpa_archive_open(&archive, bytes, size);

	if (good)
		archive_content(&archive, &content);
	good = good && !archive.failed && take(&content, arena, list);
	if (!good)
		tpa_place_list_free(list);
	free_content(&content);
	free(bytes);
	return good;
}

/* ---- writing ---- */

/* Gives each text one number. */
struct texts {
	struct content *content;
	struct tpa_pairs numbers; /* (pointer, 0) -> number */
	uint32_t count;
};

static uint32_t number_of(struct texts *texts, const char *text)
{
	struct content *content = texts->content;
	uint32_t *number;
	size_t length;
	bool found;

	if (!text)
		return 0;
	number = tpa_pairs_at(&texts->numbers, (uintptr_t)text, 0, &found);
	if (found)
		return *number;
	length = strlen(text) + 1;
	tpa_grow(&content->texts, &content->text_room, content->text_bytes + length, 1);
	memcpy(content->texts + content->text_bytes, text, length);
	content->text_bytes += length;
	return *number = ++texts->count;
}

static void fill_content(struct content *content, const struct tpa_place_list *list)
{
	struct texts texts = { .content = content };

	content->head = head_of(list->state);
	content->place_count = list->count;
	content->places = tpa_copy(list->places, list->count * sizeof(*list->places));
	TPA_SORT(content->places, content->place_count, address);
	content->location_count = list->location_count;
	content->locations = tpa_zalloc(list->location_count, sizeof(*content->locations));
	for (size_t i = 0; i < list->location_count; i++) {
		const struct tpa_location *from = &list->locations[i];

		content->locations[i] =
			(struct location){ number_of(&texts, from->function), number_of(&texts, from->linkage),
					   number_of(&texts, from->file), from->inlined, from->line };
	}
	content->witness_count = list->witnesses.count;
	content->witnesses = tpa_zalloc(list->witnesses.count, sizeof(*content->witnesses));
	for (size_t i = 0; i < list->witnesses.count; i++)
		content->witnesses[i] = (struct witness){ .path = number_of(&texts, list->witnesses.list[i].path),
							  .file = list->witnesses.list[i].file };
	tpa_pairs_free(&texts.numbers);
}

static bool write_whole(const char *file, const uint8_t *bytes, size_t size)
{
	char *draft = tpa_format("%s.%d", file, (int)getpid());
	int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	size_t put = 0;
	ssize_t got = 0;
	bool good;

	while (fd >= 0 && put < size && (got = write(fd, bytes + put, size - put)) > 0)
		put += (size_t)got;
	good = fd >= 0 && put == size;
	if (fd >= 0)
		good = close(fd) == 0 && good;
	good = good && rename(draft, file) == 0;
	if (!good && fd >= 0)
		unlink(draft);
	free(draft);
	return good;
}

bool tpa_name_cache_write(const char *file, const struct tpa_place_list *list)
{
	struct tpa_archive archive = { 0 };
	struct content content = { .places = NULL };
	bool good;

	fill_content(&content, list);
	archive_content(&archive, &content);
	good = tpa_archive_seal(&archive) && archive.size <= FILE_MOST;
	if (good) {
		tpa_make_folders(file);
		good = write_whole(file, archive.bytes, archive.size);
	}
	tpa_archive_free(&archive);
	free_content(&content);
	return good;
}

/* ---- the folder ---- */

static uint64_t hash(uint64_t hash, const char *text)
{
	return tpa_hash_text(hash, text) * UINT64_C(0x9e3779b97f4a7c15);
}

char *tpa_name_cache_file(const char *folder, const struct tpa_module *module, const char *debug_dir)
{
	char id[2 * BUILD_ID_MOST + 1];
	uint64_t where = hash(TPA_HASH_BEGIN, module->path);

	if (module->path[0] != '/' || module->build_id_length < 2 || module->build_id_length > BUILD_ID_MOST)
		return NULL;
	for (size_t i = 0; i < module->build_id_length; i++)
		snprintf(id + 2 * i, 3, "%02x", module->build_id[i]);
	return tpa_format("%s/%s-%016llx", folder, id, (unsigned long long)hash(where, debug_dir ? debug_dir : ""));
}

struct kept_file {
	char *path;
	uint64_t bytes, used_ns;
};

static struct kept_file *list_files(const char *folder, size_t *count, uint64_t *bytes)
{
	DIR *directory = opendir(folder);
	struct kept_file *list = NULL;
	struct dirent *entry;
	size_t room = 0;

	*count = 0;
	*bytes = 0;
	while (directory && (entry = readdir(directory))) {
		char *path = tpa_format("%s/%s", folder, entry->d_name);
		struct stat status;

		if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
			free(path);
			continue;
		}
		*bytes += (uint64_t)status.st_size;
		*TPA_APPEND(list, *count, room) = (struct kept_file){ path, (uint64_t)status.st_size,
								      (uint64_t)status.st_mtim.tv_sec * 1000000000u +
									      (uint64_t)status.st_mtim.tv_nsec };
	}
	if (directory)
		closedir(directory);
	return list;
}

void tpa_name_cache_shrink(const char *folder, uint64_t most)
{
	size_t count;
	uint64_t bytes;
	struct kept_file *list = list_files(folder, &count, &bytes);

	TPA_SORT(list, count, used_ns);
	for (size_t i = 0; i < count; i++) {
		if (bytes > most && unlink(list[i].path) == 0)
			bytes -= list[i].bytes;
		free(list[i].path);
	}
	free(list);
}
