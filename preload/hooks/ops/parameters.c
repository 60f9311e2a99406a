/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses as much of the Itanium C++ ABI's mangling (5.1) as is needed to tell types that are passed by address from
 * others. A type that occurred before is written as a number, so it must be known what each number stands for.
 */
#include "hooks/ops/parameters.h"

#include "core/fold.h"

#define DEPTH_MAX 32u
#define KNOWN_MAX 128u
#define SPARE_WORDS 4u /* added to a count that is not 0 */

enum kind {
	PLAIN,	/* in one general register: an integer, an address */
	VECTOR, /* in a vector register */
	CLASS,	/* a class, a name that is no type, or a type of two registers */
	NOTHING,
};

/* The same type has the same id, however it is written; two types collide with a probability of one in 2^64 pairs. */
struct type {
	enum kind kind;
	uint64_t id;
};

struct reader {
	const char *at; /* NULL: something is not understood */
	uint32_t depth, known;
	struct type types[KNOWN_MAX]; /* what S_, S0_, S1_, ... stand for */
};

static struct type read_type(struct reader *reader);

static uint64_t mix(uint64_t id, uint64_t with)
{
	id = (id ^ with) * TPC_FOLD_MIX;
	return id ^ id >> 29;
}

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

static void add(struct reader *reader, struct type type)
{
	if (reader->known == KNOWN_MAX)
		fail(reader);
	else
		reader->types[reader->known++] = type;
}

/* <length> <identifier> */
static uint64_t read_identifier(struct reader *reader, uint64_t id)
{
	const char *at = reader->at;
	size_t length = 0;

	while (is_digit(*at) && length < 4096)
		length = length * 10 + (size_t)(*at++ - '0');
	reader->at = length && strnlen(at, length) == length ? at + length : NULL;
	id = mix(id, length);
	for (size_t i = 0; reader->at && i < length; i++)
		id = mix(id, (uint8_t)at[i]);
	return id;
}

/* What S_, S0_, ... SZ_, S10_ stands for. */
static struct type read_number(struct reader *reader)
{
	const char *at = reader->at + 1;
	uint32_t number = 0;

	for (; is_digit(*at) || (*at >= 'A' && *at <= 'Z'); at++)
		number = number < KNOWN_MAX ? number * 36 + (uint32_t)(is_digit(*at) ? *at - '0' : *at - 'A' + 10)
					    : number;
	number += at != reader->at + 1;
	reader->at = *at == '_' && number < reader->known ? at + 1 : NULL;
	return reader->at ? reader->types[number] : (struct type){ CLASS, 0 };
}

/* I <argument>... E; an argument is a type, or a constant: L <type> <value> E */
static struct type read_arguments(struct reader *reader, uint64_t id)
{
	struct type all = { CLASS, mix(id, 'I') };

	reader->at++;
	while (reader->at && *reader->at != 'E') {
		bool constant = *reader->at == 'L';

		reader->at += constant;
		all.id = mix(all.id, read_type(reader).id);
		for (; constant && reader->at && (is_digit(*reader->at) || *reader->at == 'n'); reader->at++)
			all.id = mix(all.id, (uint8_t)*reader->at);
		if (constant && reader->at)
			reader->at = *reader->at == 'E' ? reader->at + 1 : NULL;
	}
	if (reader->at)
		reader->at++;
	if (reader->at)
		add(reader, all);
	return all;
}

#define STD UINT64_C(0x737464)

/* An identifier of std, a substitution, or a new identifier; the first and the last become substitutions. */
static struct type read_part(struct reader *reader, uint64_t within)
{
	const char *at = reader->at;
	struct type type = { CLASS, within };

	if (at[0] == 'S' && is_one_of("absiod", at[1])) { /* std::string and similar */
		reader->at += 2;
		type.id = mix(STD, (uint8_t)at[1]);
		return type;
	}
	if (at[0] == 'S' && at[1] != 't')
		return read_number(reader);
	if (*at == 'S') {
		reader->at += 2;
		type.id = STD;
	}
	type.id = read_identifier(reader, type.id);
	if (reader->at)
		add(reader, type);
	return type;
}

/* N <part>... E */
static struct type read_nested(struct reader *reader)
{
	struct type type = { CLASS, 0 };

	reader->at++;
	while (reader->at && *reader->at != 'E') {
		if (*reader->at == 'I')
			type = read_arguments(reader, type.id);
		else
			type = read_part(reader, type.id);
	}
	if (reader->at)
		reader->at++;
	return (struct type){ CLASS, type.id };
}

static struct type read_class(struct reader *reader)
{
	struct type type;

	if (*reader->at == 'N')
		return read_nested(reader);
	type = read_part(reader, 0);
	if (!reader->at || *reader->at != 'I')
		return type;
	return read_arguments(reader, type.id);
}

/* const and similar qualifiers count once, however many there are. */
static struct type read_qualified(struct reader *reader)
{
	bool address = is_one_of("PRO", *reader->at);
	uint64_t id = 0;
	struct type type;

	do
		id = mix(id, (uint8_t)*reader->at++);
	while (!address && is_one_of("rVK", *reader->at));
	type = read_type(reader);
	type = (struct type){ address ? PLAIN : type.kind, mix(type.id, id) };
	if (reader->at)
		add(reader, type);
	return type;
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

static struct type read_type(struct reader *reader)
{
	struct type type;

	if (++reader->depth > DEPTH_MAX) {
		fail(reader);
		return (struct type){ NOTHING, 0 };
	}
	if (is_one_of("rVKPRO", *reader->at)) {
		type = read_qualified(reader);
	} else if (is_one_of("NS", *reader->at) || is_digit(*reader->at)) {
		type = read_class(reader);
	} else {
		type.id = mix(0, (uint8_t)*reader->at);
		type.kind = read_builtin(reader);
	}
	reader->depth--;
	return type;
}

/* Leaves the reader behind the function's name. */
static bool begin(struct reader *reader, const char *symbol)
{
	reader->at = symbol + 2;
	reader->depth = reader->known = 0;
	if (strncmp(symbol, "_ZN", 3) != 0)
		return false;
	read_nested(reader);
	if (!reader->at || reader->at[-2] == 'E') /* the result type of a template comes first */
		return false;
	reader->known--; /* the function's name is no substitution */
	return true;
}

bool tpc_parameter_words(const char *symbol, uint8_t *words)
{
	uint32_t count[NOTHING + 1] = { 0 }, registers, all = 0;
	struct reader reader;

	if (!begin(&reader, symbol))
		return false;
	while (reader.at && *reader.at)
		count[read_type(&reader).kind]++;
	/* Registers are assigned in order; one may hold the address of the result. */
	registers = 1 + count[PLAIN] + 2 * count[CLASS];
	all = count[CLASS] * TPC_CLASS_WORDS + (registers > 6 ? count[PLAIN] : 0);
	all += count[VECTOR] + 2 * count[CLASS] > 8 ? count[VECTOR] : 0;
	all += all ? SPARE_WORDS : 0;
	*words = (uint8_t)all;
	return reader.at && all <= UINT8_MAX;
}

/* ---- which are tensors ---- */

/*
 * How libtorch's types are passed (System V ABI, 3.2.3): trivially copyable types of at most 16 bytes in registers,
 * types with a copy constructor by address. Types that are neither here nor plain are unknown.
 */
static const struct known {
	const char *name; /* mangled */
	uint8_t part;	  /* enum tpc_tensor_part; TPC_TENSOR_NONE: none */
	uint8_t words, vectors;
} known[] = {
	{ "RKN2at6TensorE", TPC_TENSOR_IN, 1, 0 },
	{ "RN2at6TensorE", TPC_TENSOR_OUT, 1, 0 },
	{ "RKN3c108optionalIN2at6TensorEEE", TPC_TENSOR_OPTIONAL, 1, 0 },
	{ "RKSt8optionalIN2at6TensorEE", TPC_TENSOR_OPTIONAL, 1, 0 },
	{ "N3c108ArrayRefIN2at6TensorEEE", TPC_TENSOR_LIST, 2, 0 },
	{ "RKN3c108IListRefIN2at6TensorEEE", TPC_TENSOR_LIST_REF, 1, 0 },
	{ "N3c108ArrayRefIlEE", TPC_TENSOR_SIZES, 2, 0 },
	{ "N3c108ArrayRefINS_6SymIntEEE", TPC_TENSOR_SIZES, 2, 0 },
	{ "N3c108ArrayRefINS_6ScalarEEE", TPC_TENSOR_NONE, 2, 0 },
	{ "N3c108ArrayRefIdEE", TPC_TENSOR_NONE, 2, 0 },
	{ "N3c1017basic_string_viewIcEE", TPC_TENSOR_NONE, 2, 0 },
	{ "St17basic_string_viewIcSt11char_traitsIcEE", TPC_TENSOR_NONE, 2, 0 },
	{ "N3c108optionalIlEE", TPC_TENSOR_NONE, 2, 0 },
	{ "St8optionalIlE", TPC_TENSOR_NONE, 2, 0 },
	{ "N3c108optionalIbEE", TPC_TENSOR_NONE, 1, 0 },
	{ "St8optionalIbE", TPC_TENSOR_NONE, 1, 0 },
	{ "N3c108optionalIdEE", TPC_TENSOR_NONE, 1, 1 },
	{ "St8optionalIdE", TPC_TENSOR_NONE, 1, 1 },
	{ "N3c108optionalINS_10ScalarTypeEEE", TPC_TENSOR_NONE, 1, 0 },
	{ "St8optionalIN3c1010ScalarTypeEE", TPC_TENSOR_NONE, 1, 0 },
	{ "N3c108optionalINS_6LayoutEEE", TPC_TENSOR_NONE, 1, 0 },
	{ "St8optionalIN3c106LayoutEE", TPC_TENSOR_NONE, 1, 0 },
	{ "N3c108optionalINS_6DeviceEEE", TPC_TENSOR_NONE, 1, 0 },
	{ "St8optionalIN3c106DeviceEE", TPC_TENSOR_NONE, 1, 0 },
	{ "N3c108optionalINS_12MemoryFormatEEE", TPC_TENSOR_NONE, 1, 0 },
	{ "St8optionalIN3c1012MemoryFormatEE", TPC_TENSOR_NONE, 1, 0 },
	{ "N3c108optionalIN2at9GeneratorEEE", TPC_TENSOR_NONE, 1, 0 },
	{ "St8optionalIN2at9GeneratorEE", TPC_TENSOR_NONE, 1, 0 },
	{ "N3c1010ScalarTypeE", TPC_TENSOR_NONE, 1, 0 },
	{ "N3c106LayoutE", TPC_TENSOR_NONE, 1, 0 },
	{ "N3c106DeviceE", TPC_TENSOR_NONE, 1, 0 },
	{ "N3c1012MemoryFormatE", TPC_TENSOR_NONE, 1, 0 },
	{ "N3c106SymIntE", TPC_TENSOR_NONE, 1, 0 },
	{ "St5arrayIbLm2EE", TPC_TENSOR_NONE, 1, 0 },
	{ "St5arrayIbLm3EE", TPC_TENSOR_NONE, 1, 0 },
	{ "St5arrayIbLm4EE", TPC_TENSOR_NONE, 1, 0 },
};

static tpc_shared_u64 ids[TPC_LENGTH(known)]; /* 0: not yet known */

/* Two threads may do this and write the same. The first entry is written last: tpc_parameter_tensors() reads it. */
static void name_known(void)
{
	for (size_t i = TPC_LENGTH(known); i--;) {
		struct reader reader = { .at = known[i].name };
		uint64_t id = read_type(&reader).id;

		tpc_store_release(&ids[i], id); /* pairs with tpc_parameter_tensors(): the others are there */
	}
}

static struct known find(struct type type)
{
	for (size_t i = 0; i < TPC_LENGTH(known); i++)
		if (tpc_load(&ids[i]) == type.id)
			return known[i];
	return (struct known){ .words = type.kind == PLAIN, .vectors = type.kind == VECTOR };
}

/* The next free places of parameters. */
struct place {
	int general, vectors, stack; /* used so far */
};

/*
 * The place of its first word, as tpc_argument_offset() counts; what does not fit into the remaining registers is on
 * the stack.
 */
static int put(struct place *place, const struct known *what)
{
	int at;

	if (place->general + what->words <= 6 && place->vectors + what->vectors <= 8) {
		at = -1 - place->general;
		place->general += what->words;
		place->vectors += what->vectors;
		return at;
	}
	at = 2 + place->stack;
	place->stack += what->words + what->vectors;
	return at;
}

/* False: the place of a tensor is unknown. */
static bool place_tensors(struct reader *reader, struct place place, struct tpc_tensor_parts *parts)
{
	bool lost = false;

	*parts = (struct tpc_tensor_parts){ .count = 0 };
	for (bool first = true; reader->at && *reader->at; first = false) {
		struct type type = read_type(reader);
		struct known what = find(type);
		int at = put(&place, &what);

		lost |= type.kind == CLASS && !what.words;
		parts->sizes_first |= first && what.part == TPC_TENSOR_SIZES;
		if (what.part == TPC_TENSOR_NONE || what.part == TPC_TENSOR_SIZES)
			continue;
		if (lost || parts->count == TPC_TENSOR_PARTS || at > INT8_MAX)
			return false;
		if (what.part == TPC_TENSOR_OUT)
			parts->mutable_count++;
		parts->part[parts->count] = what.part;
		parts->offset[parts->count++] = (int8_t)at;
	}
	return reader->at != NULL;
}

bool tpc_parameter_tensors(const char *symbol, bool in_place, struct tpc_tensor_parts *parts)
{
	struct reader reader;

	if (!tpc_load_acquire(&ids[0])) /* pairs with name_known() */
		name_known();
	if (!begin(&reader, symbol) || !place_tensors(&reader, (struct place){ .general = 1 }, parts))
		return false;
	in_place = in_place && parts->count && parts->part[0] == TPC_TENSOR_IN;
	if (!parts->mutable_count && !in_place)
		return true;
	begin(&reader, symbol);
	if (!place_tensors(&reader, (struct place){ .general = 0 }, parts))
		return false;
	if (!parts->mutable_count) { /* resize_: the tensor is const, but its elements are written to */
		parts->part[0] = TPC_TENSOR_OUT;
		parts->mutable_count = 1;
	}
	return true;
}
