/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/safe_stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/memory.h"
#include "base/utf8.h"

#define SEQUENCE_MAX 16 /* longest color sequence in bytes */

struct plain {
	FILE *out;
	bool color;
	unsigned char held[SEQUENCE_MAX]; /* the start of a possible character or sequence */
	size_t count;
};

static bool is_plain(unsigned char c)
{
	return (c >= ' ' && c < 127) || c == '\n' || c == '\t';
}

/* Like tpa_utf8_bytes(), for an escape sequence: ESC [ numbers m. */
static int color_bytes(const unsigned char *text, size_t size)
{
	if (size > 1 && text[1] != '[')
		return 0;
	for (size_t i = 2; i < size && i < SEQUENCE_MAX; i++) {
		if (text[i] == 'm')
			return (int)i + 1;
		if ((text[i] < '0' || text[i] > '9') && text[i] != ';')
			return 0;
	}
	return size < SEQUENCE_MAX ? -1 : 0;
}

/* Is it a control character, or one that changes the direction of the text after it and so disguises it? */
static bool steers(const unsigned char *text, int bytes)
{
	switch (bytes) {
	case 1:
		return !is_plain(text[0]);
	case 2: /* U+0080 to U+009F */
		return text[0] == 0xc2 && text[1] < 0xa0;
	case 3: /* U+202A to U+202E, U+2066 to U+2069 */
		return text[0] == 0xe2 && ((text[1] == 0x80 && text[2] >= 0xaa && text[2] <= 0xae) ||
					   (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9));
	default:
		return false;
	}
}

/* Like tpa_utf8_bytes(), for the held bytes: a character or a sequence. */
static int next_bytes(const struct plain *plain, bool *passes)
{
	int bytes = tpa_utf8_bytes(plain->held, plain->count);
	int color = bytes == 1 && plain->held[0] == '\033' && plain->color ? color_bytes(plain->held, plain->count) : 0;

	*passes = color > 0 || (bytes > 0 && !steers(plain->held, bytes));
	return color ? color : bytes;
}

/* Writes what the held bytes determine, after one more byte. `last`: no more bytes follow. */
static void pass(struct plain *plain, bool last)
{
	while (plain->count) {
		bool passes;
		int bytes = next_bytes(plain, &passes);
		size_t gone = bytes > 0 ? (size_t)bytes : 1;

		if (bytes < 0 && !last)
			return;
		if (passes)
			fwrite(plain->held, 1, gone, plain->out);
		else
			fputc('?', plain->out);
		plain->count -= gone;
		memmove(plain->held, plain->held + gone, plain->count);
	}
}

static ssize_t plain_write(void *cookie, const char *text, size_t size)
{
	struct plain *plain = cookie;

	for (size_t i = 0; i < size;) {
		size_t run = 0;

		while (!plain->count && i + run < size && is_plain((unsigned char)text[i + run]))
			run++;
		if (run) {
			fwrite(text + i, 1, run, plain->out);
			i += run;
			continue;
		}
		plain->held[plain->count++] = (unsigned char)text[i++];
		pass(plain, false);
	}
	return fflush(plain->out) == 0 && !ferror(plain->out) ? (ssize_t)size : 0;
}

static int plain_close(void *cookie)
{
	struct plain *plain = cookie;
	int result;

	pass(plain, true);
	result = plain->out == stdout ? fflush(stdout) : fclose(plain->out);
	free(plain);
	return result;
}

FILE *tpa_plain_open(FILE *out, bool color)
{
	static const cookie_io_functions_t functions = { .write = plain_write, .close = plain_close };
	struct plain *plain = tpa_zalloc(1, sizeof(*plain));
	FILE *stream;

	plain->out = out;
	plain->color = color;
	stream = fopencookie(plain, "w", functions);
	tpa_need(stream);
	setvbuf(stream, NULL, _IOFBF, BUFSIZ * 4);
	return stream;
}
