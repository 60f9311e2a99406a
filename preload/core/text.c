/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text.h"

#include "core/assert.h"

struct tpc_text tpc_text_in(char *buffer, size_t size)
{
	buffer[0] = 0;
	return (struct tpc_text){ .bytes = buffer, .size = size };
}

void tpc_text_add_bytes(struct tpc_text *text, const char *s, size_t length)
{
	size_t room = text->size - 1 - text->length;

	tpc_assert(text->length < text->size);
	if (length > room) {
		length = room;
		text->cut = true;
	}
	memcpy(text->bytes + text->length, s, length);
	text->length += length;
	text->bytes[text->length] = 0;
}

void tpc_text_add(struct tpc_text *text, const char *s)
{
	tpc_text_add_bytes(text, s, strlen(s));
}

void tpc_text_add_number(struct tpc_text *text, uint64_t n)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	tpc_text_add_bytes(text, digits + at, sizeof(digits) - at);
}

bool tpc_text_number(const char **s, uint64_t *n)
{
	const char *start = *s;
	uint64_t value = 0;

	for (; **s >= '0' && **s <= '9'; (*s)++) {
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(**s - '0'), &value))
			return false;
	}
	*n = value;
	return *s != start;
}

/* From `s` on: where what follows a star can begin. Symbols are long, and few hold its first character. */
static const char *skip_to(const char *s, char first)
{
	if (first == '?' || first == '*')
		return s;
	while (*s && *s != first)
		s++;
	return s;
}

bool tpc_text_glob(const char *pattern, const char *s)
{
	const char *star = NULL, *from = NULL;

	while (*s) {
		if (*pattern == '*') {
			star = ++pattern;
			if (!*star)
				return true;
			s = from = skip_to(s, *star);
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star; /* let the last star take one more character, or more */
			s = from = skip_to(from + 1, *star);
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == 0;
}

const char *tpc_text_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
