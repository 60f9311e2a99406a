/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of the Itanium C++ ABI's mangling (5.1) as it takes to tell types that are passed by address from others: a type
 * that was there before is a number, so what each number is has to be known.
 */
#include "hooks/ops/parameters.h"

#define DEPTH_MAX 32u
#define KNOWN_MAX 128u
#define SPARE_WORDS 4u /* beyond what is counted, where anything is */

enum kind {
	PLAIN,	/* in one general register: an integer, an address */
	VECTOR, /* in a vector register */
	CLASS,	/* one, or a name that is no type, or what fills two registers */
	NOTHING,
};

struct reader {
	const char *at; /* NULL: something is not understood */
	uint32_t depth, known;
	uint8_t kinds[KNOWN_MAX]; /* of what S_, S0_, S1_, ... stand for */
};

static enum kind read_type(struct reader *reader);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_one_of(const char *letters, char c)
{
	return c && strchr(letters, c);
}

static void fail(struct reader *reader)
{
	reader->at = NULL;
}

static void add(struct reader *reader, enum kind kind)
{
	if (reader->known == KNOWN_MAX)
		fail(reader);
	else
		reader->kinds[reader->known++] = (uint8_t)kind;
}

/* <length> <identifier> */
static void read_identifier(struct reader *reader)
{
	const char *at = reader->at;
	size_t length = 0;

	while (is_digit(*at) && length < 4096)
		length = length * 10 + (size_t)(*at++ - '0');
	reader->at = length && strnlen(at, length) == length ? at + length : NULL;
}

/* S_, S0_, ... SZ_, S10_: what it stands for. */
static enum kind read_number(struct reader *reader)
{
	const char *at = reader->at + 1;
	uint32_t number = 0;

	for (; is_digit(*at) || (*at >= 'A' && *at <= 'Z'); at++)
		number = number < KNOWN_MAX ? number * 36 + (uint32_t)(is_digit(*at) ? *at - '0' : *at - 'A' + 10)
					    : number;
	number += at != reader->at + 1;
	reader->at = *at == '_' && number < reader->known ? at + 1 : NULL;
	return reader->at ? (enum kind)reader->kinds[number] : CLASS;
}

/* I <argument>... E; an argument is a type, or a constant: L <type> <value> E */
static void read_arguments(struct reader *reader)
{
	reader->at++;
	while (reader->at && *reader->at != 'E') {
		bool constant = *reader->at == 'L';

		reader->at += constant;
		read_type(reader);
		while (constant && reader->at && (is_digit(*reader->at) || *reader->at == 'n'))
			reader->at++;
		if (constant && reader->at)
			reader->at = *reader->at == 'E' ? reader->at + 1 : NULL;
	}
	if (reader->at)
		reader->at++;
	if (reader->at)
		add(reader, CLASS);
}

/* An identifier of std's, one that was there before, or the next; each but the second is known from here on. */
static enum kind read_part(struct reader *reader)
{
	const char *at = reader->at;

	if (at[0] == 'S' && is_one_of("absiod", at[1])) { /* std::string and such */
		reader->at += 2;
		return CLASS;
	}
	if (at[0] == 'S' && at[1] != 't')
		return read_number(reader);
	reader->at += *at == 'S' ? 2 : 0;
	read_identifier(reader);
	if (reader->at)
		add(reader, CLASS);
	return CLASS;
}

/* N <part>... E */
static void read_nested(struct reader *reader)
{
	reader->at++;
	while (reader->at && *reader->at != 'E') {
		if (*reader->at == 'I')
			read_arguments(reader);
		else
			read_part(reader);
	}
	if (reader->at)
		reader->at++;
}

static enum kind read_class(struct reader *reader)
{
	enum kind kind = CLASS;

	if (*reader->at == 'N') {
		read_nested(reader);
		return CLASS;
	}
	kind = read_part(reader);
	if (!reader->at || *reader->at != 'I')
		return kind;
	read_arguments(reader);
	return CLASS;
}

/* const and its like are one, however many. */
static enum kind read_qualified(struct reader *reader)
{
	bool address = is_one_of("PRO", *reader->at);
	enum kind kind;

	do
		reader->at++;
	while (!address && is_one_of("rVK", *reader->at));
	kind = read_type(reader);
	if (reader->at)
		add(reader, address ? PLAIN : kind);
	return address ? PLAIN : kind;
}

static enum kind read_builtin(struct reader *reader)
{
	char letter = *reader->at;

	if (!is_one_of("vwbcahstijlmxyfdngeo", letter)) {
		fail(reader);
		return NOTHING;
	}
	reader->at++;
	if (letter == 'v')
		return NOTHING;
	if (is_one_of("fd", letter))
		return VECTOR;
	return is_one_of("ngeo", letter) ? CLASS : PLAIN;
}

static enum kind read_type(struct reader *reader)
{
	enum kind kind;

	if (++reader->depth > DEPTH_MAX) {
		fail(reader);
		return NOTHING;
	}
	if (is_one_of("rVKPRO", *reader->at))
		kind = read_qualified(reader);
	else if (is_one_of("NS", *reader->at) || is_digit(*reader->at))
		kind = read_class(reader);
	else
		kind = read_builtin(reader);
	reader->depth--;
	return kind;
}

bool tp_parameter_words(const char *symbol, uint8_t *words)
{
	struct reader reader = { .at = symbol + 2 };
	uint32_t count[NOTHING + 1] = { 0 }, registers, all = 0;

	if (strncmp(symbol, "_ZN", 3) != 0)
		return false;
	read_nested(&reader);
	if (!reader.at || reader.at[-2] == 'E') /* of a template the result's type comes first */
		return false;
	reader.known--; /* the function is no name for others */
	while (reader.at && *reader.at)
		count[read_type(&reader)]++;
	/* Registers go to whoever comes first; one may be the result's address. */
	registers = 1 + count[PLAIN] + 2 * count[CLASS];
	all = count[CLASS] * TP_CLASS_WORDS + (registers > 6 ? count[PLAIN] : 0);
	all += count[VECTOR] + 2 * count[CLASS] > 8 ? count[VECTOR] : 0;
	all += all ? SPARE_WORDS : 0;
	*words = (uint8_t)all;
	return reader.at && all <= UINT8_MAX;
}
