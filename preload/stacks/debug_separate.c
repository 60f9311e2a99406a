/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/debug_separate.h"

#include "core/sys.h"
#include "core/text.h"
#include "stacks/debug_file.h"

#include <elf.h>

#define FOLDER "/usr/lib/debug"
#define PATH_MOST 1024u /* bytes: longer ones are not looked for */
#define NOTE_MOST 96u	/* bytes */
#define LINK_MOST 256u
#define NOTE_HEAD (sizeof(Elf64_Nhdr) + 4) /* bytes before the id: "GNU" is the name */

/* What tells that two files belong together. */
struct identity {
	char note[NOTE_MOST]; /* the section with the build id */
	uint64_t note_size;   /* 0: there is none */
	uint32_t crc;	      /* of the debug file, by the link */
};

static uint64_t read_whole(int fd, const char *name, uint32_t type, char *to, size_t room)
{
	struct tpc_debug_place place;

	return tpc_debug_file_section(fd, name, type, &place) && place.size <= room &&
			       tpc_debug_file_read(fd, to, place)
		       ? place.size
		       : 0;
}

static void read_note(int fd, struct identity *identity)
{
	identity->note_size = read_whole(fd, ".note.gnu.build-id", SHT_NOTE, identity->note, sizeof(identity->note));
	if (identity->note_size <= NOTE_HEAD + 1)
		identity->note_size = 0;
}

/* ---- the checksum ---- */

#define POLYNOMIAL 0xedb88320u /* CRC-32 of ISO 3309, reflected */

static void fill(uint32_t table[16])
{
	for (uint32_t i = 0; i < 16; i++) {
		table[i] = i;
		for (int bit = 0; bit < 4; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? POLYNOMIAL : 0);
	}
}

static bool has_checksum(int fd, uint32_t expected)
{
	uint32_t table[16], crc = UINT32_MAX;
	unsigned char bytes[512];
	long got;

	fill(table);
	for (uint64_t at = 0; (got = tpc_sys_pread(fd, bytes, sizeof(bytes), at)) > 0; at += (uint64_t)got) {
		if (at > TPC_DEBUG_MOST)
			return false;
		for (long i = 0; i < got; i++) {
			crc ^= bytes[i];
			crc = crc >> 4 ^ table[crc & 15];
			crc = crc >> 4 ^ table[crc & 15];
		}
	}
	return got == 0 && ~crc == expected;
}

/* ---- the file ---- */

static int open_if(const struct tpc_text *path, const struct identity *identity)
{
	struct identity found;
	int fd = path->cut ? -1 : tpc_sys_open(path->bytes, O_RDONLY | O_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	read_note(fd, &found);
	if (identity->note_size
		    ? found.note_size == identity->note_size && memcmp(found.note, identity->note, found.note_size) == 0
		    : has_checksum(fd, identity->crc))
		return fd;
	tpc_sys_close(fd);
	return -1;
}

static void add_byte(struct tpc_text *text, uint8_t byte)
{
	static const char digits[] = "0123456789abcdef";

	tpc_text_add_bytes(text, &digits[byte >> 4], 1);
	tpc_text_add_bytes(text, &digits[byte & 15], 1);
}

static int open_by_id(const struct identity *identity)
{
	char buffer[PATH_MOST];
	struct tpc_text path = tpc_text_in(buffer, sizeof(buffer));

	if (!identity->note_size)
		return -1;
	tpc_text_add(&path, FOLDER "/.build-id/");
	for (uint64_t i = NOTE_HEAD; i < identity->note_size; i++) {
		add_byte(&path, (uint8_t)identity->note[i]);
		if (i == NOTE_HEAD)
			tpc_text_add(&path, "/");
	}
	tpc_text_add(&path, ".debug");
	return open_if(&path, identity);
}

/* Three places; `name`: the link's. */
static int open_by_name(const char *of, const char *name, const struct identity *identity)
{
	static const struct {
		const char *before, *behind;
	} places[] = { { "", "" }, { "", ".debug/" }, { FOLDER, "" } };
	size_t folder = (size_t)(tpc_text_base(of) - of);

	for (size_t i = 0; i < TPC_LENGTH(places); i++) {
		char buffer[PATH_MOST];
		struct tpc_text path = tpc_text_in(buffer, sizeof(buffer));
		int fd;

		tpc_text_add(&path, places[i].before);
		tpc_text_add_bytes(&path, of, folder);
		tpc_text_add(&path, places[i].behind);
		tpc_text_add(&path, name);
		fd = open_if(&path, identity);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

int tpc_debug_separate_open(int fd, const char *path)
{
	struct identity identity;
	char link[LINK_MOST];
	uint64_t size;
	int found;

	read_note(fd, &identity);
	found = open_by_id(&identity);
	if (found >= 0)
		return found;
	/* A name, zeros up to a multiple of four, and the checksum. */
	size = read_whole(fd, ".gnu_debuglink", SHT_PROGBITS, link, sizeof(link));
	if (size <= sizeof(identity.crc))
		return -1;
	memcpy(&identity.crc, link + size - sizeof(identity.crc), sizeof(identity.crc));
	link[size - sizeof(identity.crc)] = 0;
	return strchr(link, '/') ? -1 : open_by_name(path, link, &identity);
}
