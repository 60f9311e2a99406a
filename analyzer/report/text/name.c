/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/name.h"

#include <string.h>

/* Offset of the parameters in a demangled C++ name, or of its end if it has none. */
static size_t parameters_at(const char *name)
{
	size_t length = strlen(name), at, end = length;
	int depth = 0;

	/* skip qualifiers and clones after them */
	while (end > 0 && name[end - 1] != ')')
		end--;
	if (!end || (end < length && name[end] != ' '))
		return length;
	for (at = end; at-- > 0;) {
		depth += name[at] == ')';
		depth -= name[at] == '(';
		if (depth == 0)
			break;
	}
	if (depth || !at || strncmp(name + at, "(anonymous namespace)", 21) == 0)
		return length;
	if (name[at - 1] == ' ') /* a remark: "encoder (backward)" */
		return length;
	if (at >= 8 && strncmp(name + at - 8, "operator", 8) == 0)
		return length;
	return at;
}

/* Replaces lists of arguments "<...>" by "<..>", but not operator< and the like, nor Rust's <T as Trait>. */
static void drop_templates(char *name)
{
	char *to = name;
	int depth = 0;

	for (const char *from = name; *from; from++) {
		bool after_operator = from - name >= 8 && strncmp(from - 8, "operator", 8) == 0;
		bool opens = *from == '<' && from > name && !after_operator && from[-1] != ' ' && from[-1] != '<';

		if (opens && depth++ == 0) {
			memcpy(to, "<..", 3);
			to += 3;
		} else if (depth && *from == '>' && from[-1] != '-') {
			if (--depth == 0)
				*to++ = '>';
		} else if (!depth) {
			*to++ = *from;
		}
	}
	if (!depth)
		*to = '\0';
}

char *tpa_short_name(const struct tpa_page *page, const char *name, int columns, char *buffer, size_t size)
{
	char whole[4096], plain[4096];
	size_t length = parameters_at(name);

	snprintf(whole, sizeof(whole), "%.*s", (int)(length < sizeof(whole) ? length : sizeof(whole) - 1), name);
	for (char *at = whole; *at; at++) /* the program may have set the name: remove control characters */
		if ((unsigned char)*at < ' ' || *at == 127)
			*at = '?';
	if (tpa_text_columns(page, whole) > columns && !strstr(whole, " as ") && strlen(whole) + 8 < sizeof(plain)) {
		/* "<..>" may be longer than "<T>": the copy has room, and is dropped if it is no shorter. */
		memcpy(plain, whole, strlen(whole) + 1);
		drop_templates(plain);
		if (strlen(plain) < strlen(whole))
			memcpy(whole, plain, strlen(plain) + 1);
	}
	return tpa_shorten(page, whole, columns, buffer, size);
}
