/* SPDX-License-Identifier: Apache-2.0 */
/* Names without what a program makes anew: numbers, hashes, names of temporary files. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/growth/same_stacks.h"

#define HASH_LEAST 8u /* shorter words are words, with a number in them */

static bool is_hex(const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isxdigit((unsigned char)word[i]))
			return false;
	return true;
}

/* Letters and digits. */
static bool is_hash(const char *word, size_t length)
{
	size_t digits = 0, changes = 0;

	for (size_t i = 0; i < length; i++) {
		bool digit = isdigit((unsigned char)word[i]);

		digits += digit;
		changes += i && digit != !!isdigit((unsigned char)word[i - 1]);
	}
	return length >= HASH_LEAST && digits && (changes >= 2 || is_hex(word, length));
}

/* What is left of a word; behind a colon a number is a line. Returns what it takes in `to`. */
static size_t put_word(const char *word, size_t length, bool line, char *to)
{
	size_t put = 0;

	if (is_hash(word, length)) {
		*to = '#';
		return 1;
	}
	for (size_t i = 0; i < length; i++) {
		bool digit = isdigit((unsigned char)word[i]);

		if (!digit || (line && length == strspn(word, "0123456789")))
			to[put++] = word[i];
		else if (!put || to[put - 1] != '#')
			to[put++] = '#';
	}
	return put;
}

/* The length of the name of a folder for temporary files that `name` lies below; 0: it does not. */
static size_t temporary(const char *name)
{
	static const char *const folders[] = { "/tmp/", "/var/tmp/", "/dev/shm/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (strncmp(name, folders[i], strlen(folders[i])) == 0)
			return strlen(folders[i]);
	return 0;
}

/* Of "/tmp/x/y.so" this is "/tmp/#/#.so", which is never longer. Returns how much of the name it stands for. */
static size_t put_temporary(const char *name, char *to, size_t *put)
{
	size_t at = temporary(name), length = strlen(name);
	const char *last = strrchr(name, '/') + 1, *dot = strrchr(last, '.');

	if (!at)
		return 0;
	memcpy(to, name, at);
	*put = at;
	while (at < length) {
		size_t part = strcspn(name + at, "/");

		if (part)
			to[(*put)++] = '#';
		at += part;
		if (name[at] == '/')
			to[(*put)++] = name[at++];
	}
	return dot && dot > last ? (size_t)(dot - name) : length;
}

char *tp_alike_name(const char *name)
{
	char *text = tp_zalloc(strlen(name) + 1, 1);
	size_t put = 0, at = put_temporary(name, text, &put);

	while (name[at]) {
		size_t word = 0;

		while (isalnum((unsigned char)name[at + word]))
			word++;
		if (word)
			put += put_word(name + at, word, at && name[at - 1] == ':', text + put);
		else
			text[put++] = name[at++];
		at += word;
	}
	text[put] = '\0';
	return text;
}
