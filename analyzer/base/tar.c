/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SIZE_MOST UINT64_C(077777777777) /* what eleven octal digits say */
#define PAX_MOST (1u << 20)

struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], time[12], sum[8], type, link[100], magic[6], version[2],
		user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == TPA_TAR_BLOCK, "a header is a block");

/* The sum of a header's bytes, with blanks in place of the sum. */
static unsigned sum_of(const struct header *header)
{
	const uint8_t *bytes = (const uint8_t *)header;
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof(*header); i++)
		sum += i >= offsetof(struct header, sum) && i < offsetof(struct header, type) ? ' ' : bytes[i];
	return sum;
}

/* ---- reading ---- */

/* A number in octal digits, or, if its first bit is set, in binary. False: it is neither. */
static bool number_of(const char *field, size_t size, uint64_t *number)
{
	size_t i = 0;

	*number = 0;
	if (field[0] & 0x80) {
		for (i = 1; i < size; i++) {
			if (*number >> 55)
				return false;
			*number = *number << 8 | (uint8_t)field[i];
		}
		return field[0] == (char)0x80;
	}
	while (i < size && field[i] == ' ')
		i++;
	if (i == size || field[i] < '0' || field[i] > '7')
		return false;
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
		*number = *number << 3 | (uint64_t)(field[i] - '0');
	return true;
}

static bool is_header(const struct header *header, uint64_t *size)
{
	uint64_t sum;

	return memcmp(header->magic, "ustar", 5) == 0 && number_of(header->sum, sizeof(header->sum), &sum) &&
	       sum == sum_of(header) && number_of(header->size, sizeof(header->size), size);
}

static bool is_empty(const struct header *header)
{
	static const struct header empty;

	return memcmp(header, &empty, sizeof(empty)) == 0;
}

bool tpa_tar_is(const struct tpa_part *file)
{
	struct header header;
	int alike = 0;

	if (tpa_part_read(file, &header, sizeof(header), 0) < sizeof(header))
		return false;
	for (int i = 0; i < 5; i++)
		alike += header.magic[i] == "ustar"[i];
	return alike >= 4;
}

static char *name_of(const struct header *header)
{
	int name = (int)sizeof(header->name), prefix = (int)sizeof(header->prefix);

	return header->prefix[0] && memcmp(header->magic, "ustar", 6) == 0
		       ? tpa_format("%.*s/%.*s", prefix, header->prefix, name, header->name)
		       : tpa_format("%.*s", name, header->name);
}

/* What a pax header says of the next member: "LENGTH KEY=VALUE\n", as far as it matters here. */
struct pax {
	char *path; /* NULL: nothing */
	uint64_t size;
	bool has_size;
};

static void take_pax(struct pax *pax, const char *text, size_t length)
{
	size_t at = 0;

	while (at < length) {
		char *end;
		size_t left = length - at, record = strtoul(text + at, &end, 10);
		size_t head = (size_t)(end - (text + at)) + 1; /* digits and the blank */

		if (*end != ' ' || record <= head || record > left)
			return;
		if (record > head + 5 && memcmp(text + at + head, "path=", 5) == 0) {
			free(pax->path);
			pax->path = tpa_strndup(text + at + head + 5, record - head - 6);
		} else if (record > head + 5 && memcmp(text + at + head, "size=", 5) == 0) {
			pax->size = strtoull(text + at + head + 5, NULL, 10);
			pax->has_size = true;
		}
		at += record;
	}
}

/* The bytes of a pax header or of a long name, with a NUL behind; NULL: too long, or not there. */
static char *text_at(const struct tpa_part *file, uint64_t offset, uint64_t size)
{
	char *text;

	if (size > PAX_MOST)
		return NULL;
	text = tpa_zalloc(1, size + 1);
	if (tpa_part_read(file, text, size, offset) == size)
		return text;
	free(text);
	return NULL;
}

static void note(struct tpa_tar *tar, uint64_t offset, const char *reason)
{
	if (!tar->damage.reason)
		tar->damage = (struct tpa_tar_damage){ offset, reason };
}

/* The next header that is whole, after one that is not; the file's end if there is none. */
static uint64_t search(const struct tpa_part *file, uint64_t offset)
{
	struct header blocks[64];
	size_t got;
	uint64_t size;

	while ((got = tpa_part_read(file, blocks, sizeof(blocks), offset) / sizeof(*blocks)) > 0) {
		for (size_t i = 0; i < got; i++)
			if (is_header(&blocks[i], &size))
				return offset + i * sizeof(*blocks);
		offset += got * sizeof(*blocks);
	}
	return file->bytes;
}

static void add(struct tpa_tar *tar, const struct tpa_part *file, uint64_t offset, char *name, uint64_t size)
{
	uint64_t left = file->bytes - offset;
	struct tpa_tar_member *member = TPA_APPEND(tar->list, tar->count, tar->room);

	*member = (struct tpa_tar_member){
		.name = name,
		.bytes = size,
		.part = { .fd = file->fd, .begin = file->begin + offset, .bytes = size < left ? size : left },
	};
	if (size > left)
		note(tar, file->bytes, "the file ends inside a member");
}

/* Takes one header with what follows it. Returns where the next one is. */
static uint64_t take(struct tpa_tar *tar, const struct tpa_part *file, uint64_t offset, const struct header *header,
		     uint64_t size, struct pax *pax)
{
	uint64_t contents = offset + TPA_TAR_BLOCK;
	char *text;

	if (header->type == 'x' || header->type == 'L') {
		text = text_at(file, contents, size);
		if (text && header->type == 'x')
			take_pax(pax, text, size);
		else if (text)
			pax->path = (free(pax->path), tpa_strdup(text));
		free(text);
	} else if (header->type == '0' || header->type == '\0') {
		size = pax->has_size ? pax->size : size;
		add(tar, file, contents, pax->path ? tpa_strdup(pax->path) : name_of(header), size);
	}
	if (header->type != 'x' && header->type != 'L' && header->type != 'g') {
		free(pax->path);
		*pax = (struct pax){ 0 };
	}
	if (size > file->bytes - contents)
		return file->bytes;
	return contents + (size + TPA_TAR_BLOCK - 1) / TPA_TAR_BLOCK * TPA_TAR_BLOCK;
}

void tpa_tar_read(struct tpa_tar *tar, const struct tpa_part *file)
{
	struct pax pax = { 0 };
	struct header header;
	uint64_t offset = 0, size;
	bool ended = false;

	*tar = (struct tpa_tar){ 0 };
	while (!ended && offset < file->bytes &&
	       tpa_part_read(file, &header, sizeof(header), offset) == sizeof(header)) {
		ended = is_empty(&header);
		if (ended)
			continue;
		if (is_header(&header, &size)) {
			offset = take(tar, file, offset, &header, size, &pax);
		} else {
			note(tar, offset, "the header of a member is damaged");
			offset = search(file, offset + TPA_TAR_BLOCK);
		}
	}
	if (!ended)
		note(tar, file->bytes, "the file ends before the archive does");
	free(pax.path);
}

void tpa_tar_free(struct tpa_tar *tar)
{
	for (size_t i = 0; i < tar->count; i++)
		free(tar->list[i].name);
	free(tar->list);
	*tar = (struct tpa_tar){ 0 };
}

/* ---- writing ---- */

/* The slash at which a long name is divided; NULL: there is none that serves. */
static const char *division(const char *name)
{
	const struct header *header = NULL;
	size_t length = strlen(name);

	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/'))
		if (slash > name && (size_t)(slash - name) <= sizeof(header->prefix) &&
		    length - (size_t)(slash - name) - 1 <= sizeof(header->name) && slash[1])
			return slash;
	return NULL;
}

bool tpa_tar_name_fits(const char *name)
{
	return name[0] && (strlen(name) <= sizeof(((struct header *)NULL)->name) || division(name));
}

static void put(char *field, size_t size, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%0*llo", (int)size - 1, (unsigned long long)number);
	memcpy(field, digits, size);
}

static bool write_header(FILE *file, const char *name, uint64_t time, uint64_t size)
{
	struct header header = { .type = '0', .magic = "ustar", .version = { '0', '0' } };
	const char *slash = strlen(name) <= sizeof(header.name) ? NULL : division(name),
		   *last = slash ? slash + 1 : name;

	memcpy(header.name, last, strlen(last));
	if (slash)
		memcpy(header.prefix, name, (size_t)(slash - name));
	put(header.mode, sizeof(header.mode), 0644);
	put(header.uid, sizeof(header.uid), 0);
	put(header.gid, sizeof(header.gid), 0);
	put(header.size, sizeof(header.size), size);
	put(header.time, sizeof(header.time), time);
	put(header.major, sizeof(header.major), 0);
	put(header.minor, sizeof(header.minor), 0);
	put(header.sum, sizeof(header.sum) - 1, sum_of(&header));
	header.sum[sizeof(header.sum) - 1] = ' ';
	return fwrite(&header, sizeof(header), 1, file) == 1;
}

bool tpa_tar_begin(FILE *file, const char *name, uint64_t time)
{
	return write_header(file, name, time, 0);
}

static bool fill(FILE *file, size_t bytes)
{
	static const char zeros[2 * TPA_TAR_BLOCK];

	return fwrite(zeros, 1, bytes, file) == bytes;
}

bool tpa_tar_end(FILE *file, const char *name, uint64_t time, off_t header)
{
	off_t end = ftello(file);
	uint64_t size = (uint64_t)(end - header - (off_t)TPA_TAR_BLOCK);

	if (end < 0)
		return false;
	if (size > SIZE_MOST) {
		errno = EFBIG;
		return false;
	}
	return fill(file, (TPA_TAR_BLOCK - size % TPA_TAR_BLOCK) % TPA_TAR_BLOCK) &&
	       fseeko(file, header, SEEK_SET) == 0 && write_header(file, name, time, size) &&
	       fseeko(file, 0, SEEK_END) == 0;
}

bool tpa_tar_finish(FILE *file)
{
	return fill(file, 2 * (size_t)TPA_TAR_BLOCK);
}
