/* SPDX-License-Identifier: Apache-2.0 */
#include "import/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/read_at.h"

#define PIECE ((size_t)1 << 17) /* bytes that are read at a time */

struct tpa_lines {
	int fd;	   /* of a file compressed by zstd; else `gz` has it */
	gzFile gz; /* reads a file that is not compressed, too */
	ZSTD_DStream *zstd;
	uint8_t *compressed; /* of zstd */
	ZSTD_inBuffer in;
	bool in_frame; /* of zstd: the last frame is not complete */
	char *buffer;  /* PIECE bytes and a line */
	size_t begin, end, room;
	uint64_t number;
	bool over;
	const char *cut;
};

static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

/* False: errno says why. */
static bool open_stream(struct tpa_lines *lines, int fd)
{
	uint8_t magic[sizeof(zstd_magic)];

	lines->fd = fd;
	if (tpa_read_at(fd, magic, sizeof(magic), 0) == sizeof(magic) && !memcmp(magic, zstd_magic, sizeof(magic))) {
		lines->zstd = ZSTD_createDStream();
		lines->compressed = tpa_zalloc(1, PIECE);
		tpa_need(lines->zstd != NULL);
		return true;
	}
	lines->gz = gzdopen(fd, "rb");
	if (!lines->gz)
		return false;
	lines->fd = -1;
	gzbuffer(lines->gz, PIECE);
	return true;
}

struct tpa_lines *tpa_lines_open(const char *file, char **error)
{
	struct tpa_lines *lines = tpa_zalloc(1, sizeof(*lines));
	struct stat status;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	lines->fd = -1;
	if (fd < 0 || fstat(fd, &status) != 0 || (S_ISDIR(status.st_mode) && (errno = EISDIR)) ||
	    !open_stream(lines, fd)) {
		*error = tpa_format("%s: %s", file, strerror(errno));
		if (fd >= 0 && lines->fd < 0)
			close(fd);
		tpa_lines_close(lines);
		return NULL;
	}
	return lines;
}

void tpa_lines_close(struct tpa_lines *lines)
{
	if (!lines)
		return;
	if (lines->gz)
		gzclose(lines->gz);
	if (lines->fd >= 0)
		close(lines->fd);
	ZSTD_freeDStream(lines->zstd);
	free(lines->compressed);
	free(lines->buffer);
	free(lines);
}

static size_t more_zstd(struct tpa_lines *lines, char *to, size_t size)
{
	ZSTD_outBuffer out = { to, size, 0 };

	while (!out.pos) {
		size_t left;

		if (lines->in.pos == lines->in.size) {
			ssize_t got = read(lines->fd, lines->compressed, PIECE);

			lines->in = (ZSTD_inBuffer){ lines->compressed, got > 0 ? (size_t)got : 0, 0 };
			if (got < 0)
				lines->cut = "can't be read to its end";
			else if (!got && lines->in_frame)
				lines->cut = "ends within what zstd compressed";
			if (got <= 0)
				return 0;
		}
		left = ZSTD_decompressStream(lines->zstd, &out, &lines->in);
		if (ZSTD_isError(left)) {
			lines->cut = "is damaged within what zstd compressed";
			return out.pos;
		}
		lines->in_frame = left != 0;
	}
	return out.pos;
}

static size_t more_gzip(struct tpa_lines *lines, char *to, size_t size)
{
	int got = gzread(lines->gz, to, (unsigned)size), status = Z_OK;

	gzerror(lines->gz, &status);
	if (status == Z_BUF_ERROR)
		lines->cut = "ends within what gzip compressed";
	else if (status == Z_ERRNO)
		lines->cut = "can't be read to its end";
	else if (status != Z_OK)
		lines->cut = "is damaged within what gzip compressed";
	return got > 0 ? (size_t)got : 0;
}

/* Reads more behind what is in the buffer. False: there is no more. */
static bool more(struct tpa_lines *lines)
{
	size_t got;

	if (lines->over)
		return false;
	if (lines->begin) {
		memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
		lines->end -= lines->begin;
		lines->begin = 0;
	}
	tpa_grow(&lines->buffer, &lines->room, lines->end + PIECE, 1);
	got = lines->zstd ? more_zstd(lines, lines->buffer + lines->end, PIECE)
			  : more_gzip(lines, lines->buffer + lines->end, PIECE);
	lines->end += got;
	lines->over = !got || lines->cut;
	return got != 0;
}

size_t tpa_lines_peek(struct tpa_lines *lines, void *buffer, size_t size)
{
	while (lines->end - lines->begin < size && more(lines))
		;
	if (size > lines->end - lines->begin)
		size = lines->end - lines->begin;
	if (size)
		memcpy(buffer, lines->buffer + lines->begin, size);
	return size;
}

char *tpa_lines_next(struct tpa_lines *lines)
{
	size_t seen = 0;

	for (;;) {
		size_t have = lines->end - lines->begin;
		char *at = lines->buffer + lines->begin,
		     *newline = have > seen ? memchr(at + seen, '\n', have - seen) : NULL;

		if (newline) {
			*newline = 0;
			lines->begin += (size_t)(newline - at) + 1;
			lines->number++;
			return at;
		}
		seen = have;
		if (have > TPA_LINE_MOST) {
			lines->cut = "has a line of more than 1 MiB";
			return NULL;
		}
		if (!more(lines))
			break;
	}
	if (lines->end > lines->begin && !lines->cut)
		lines->cut = "ends within a line";
	return NULL;
}

uint64_t tpa_lines_number(const struct tpa_lines *lines)
{
	return lines->number;
}

const char *tpa_lines_cut(const struct tpa_lines *lines)
{
	return lines->cut;
}
