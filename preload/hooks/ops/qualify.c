/* SPDX-License-Identifier: Apache-2.0 */
/* Parses names of the Itanium C++ ABI (5.1.3). Skips template arguments. */
#include "hooks/ops/qualify.h"

#define NESTED_MAX 64 /* arguments within arguments */

bool tpc_read_identifier(const char **at, const char **start, size_t *length)
{
	uint64_t n;

	if (!tpc_text_number(at, &n) || n == 0 || n > strnlen(*at, 4096) || n != (size_t)n)
		return false;
	*start = *at;
	*length = (size_t)n;
	*at += n;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Skips a constant, L <type> <value> E, of which `at` is the L; NULL: its type is not a builtin one. */
static const char *skip_constant(const char *at)
{
	if (at[1] < 'a' || at[1] > 'z')
		return NULL;
	for (at += 2; is_digit(*at) || *at == 'n';)
		at++;
	return *at == 'E' ? at + 1 : NULL;
}

/* Skips a substitution, S_ S0_ T_ T0_, or an abbreviation of std: St Sa Ss... */
static const char *skip_number(const char *at)
{
	if (*at == 'S' && at[1] >= 'a' && at[1] <= 'z')
		return at + 2;
	for (at++; is_digit(*at) || (*at >= 'A' && *at <= 'Z');)
		at++;
	return *at == '_' ? at + 1 : NULL;
}

/* Skips one template argument; NULL: it is not understood (expressions, lambdas, arrays). */
static const char *skip_one(const char *at, int *depth)
{
	const char *start;
	size_t length;

	if (is_digit(*at))
		return tpc_read_identifier(&at, &start, &length) ? at : NULL;
	switch (*at) {
	case 'L':
		return skip_constant(at);
	case 'S':
	case 'T':
		return skip_number(at);
	case 'I': /* arguments */
	case 'J': /* a pack of them */
	case 'N': /* a nested name */
	case 'F': /* a function's type */
		++*depth;
		return at + 1;
	case 'E':
		--*depth;
		return at + 1;
	case 'D': /* builtin types of two letters, but those with an expression or a number in them */
		return at[1] && !strchr("tTvFB", at[1]) ? at + 2 : NULL;
	case 'P': /* to, const and so on */
	case 'R':
	case 'O':
	case 'K':
	case 'V':
	case 'M':
		return at + 1;
	default:
		return *at >= 'a' && *at <= 'z' && *at != 'u' ? at + 1 : NULL;
	}
}

/* Skips I <argument>... E; NULL: it is not understood. */
static const char *skip_arguments(const char *at)
{
	int depth = 0;

	do
		at = skip_one(at, &depth);
	while (at && depth > 0 && depth < NESTED_MAX);
	return depth == 0 ? at : NULL;
}

struct name {
	const char *at;
	struct tpc_text *to;
	const char *last; /* identifier: the name of a constructor */
	size_t last_length;
};

static void add_part(struct name *name, const char *bytes, size_t length)
{
	if (name->to->length)
		tpc_text_add(name->to, "::");
	tpc_text_add_bytes(name->to, bytes, length);
}

static bool add_identifier(struct name *name)
{
	static const char unnamed[] = "(anonymous namespace)";

	if (!tpc_read_identifier(&name->at, &name->last, &name->last_length))
		return false;
	if (name->last_length >= 10 && memcmp(name->last, "_GLOBAL__N", 10) == 0)
		add_part(name, unnamed, sizeof(unnamed) - 1);
	else
		add_part(name, name->last, name->last_length);
	while (*name->at == 'B') { /* [abi:...] */
		const char *tag;
		size_t length;

		name->at++;
		if (!tpc_read_identifier(&name->at, &tag, &length))
			return false;
	}
	return true;
}

/* C1, D0 and so on: constructors and destructors have their class's name. */
static bool add_special(struct name *name)
{
	bool destroys = *name->at == 'D';

	if (!name->last || !is_digit(name->at[1]))
		return false;
	add_part(name, "~", destroys);
	tpc_text_add_bytes(name->to, name->last, name->last_length);
	name->at += 2;
	return true;
}

static bool add_operator(struct name *name)
{
	static const struct {
		char code[3];
		const char *text;
	} operators[] = {
		{ "nw", " new" }, { "na", " new[]" }, { "dl", " delete" }, { "da", " delete[]" }, { "ng", "-" },
		{ "ad", "&" },	  { "de", "*" },      { "ps", "+" },	   { "co", "~" },	  { "pl", "+" },
		{ "mi", "-" },	  { "ml", "*" },      { "dv", "/" },	   { "rm", "%" },	  { "an", "&" },
		{ "or", "|" },	  { "eo", "^" },      { "aS", "=" },	   { "pL", "+=" },	  { "mI", "-=" },
		{ "mL", "*=" },	  { "dV", "/=" },     { "rM", "%=" },	   { "aN", "&=" },	  { "oR", "|=" },
		{ "eO", "^=" },	  { "ls", "<<" },     { "rs", ">>" },	   { "lS", "<<=" },	  { "rS", ">>=" },
		{ "eq", "==" },	  { "ne", "!=" },     { "lt", "<" },	   { "gt", ">" },	  { "le", "<=" },
		{ "ge", ">=" },	  { "nt", "!" },      { "aa", "&&" },	   { "oo", "||" },	  { "pp", "++" },
		{ "mm", "--" },	  { "cm", "," },      { "pt", "->" },	   { "cl", "()" },	  { "ix", "[]" },
	};

	for (size_t i = 0; i < TPC_LENGTH(operators); i++) {
		if (memcmp(operators[i].code, name->at, 2) == 0) {
			add_part(name, "operator", 8);
			tpc_text_add(name->to, operators[i].text);
			name->at += 2;
			return true;
		}
	}
	return false;
}

/* St, and abbreviations of its classes: Sa, Ss... Only at the front. */
static bool add_standard(struct name *name)
{
	static const char letters[] = "tabsiod";
	static const char *const names[] = { "std",	      "allocator",     "basic_string",	"basic_string",
					     "basic_istream", "basic_ostream", "basic_iostream" };
	const char *letter = name->at[1] ? strchr(letters, name->at[1]) : NULL;

	if (!letter)
		return false;
	name->at += 2;
	add_part(name, "std", 3);
	if (letter == letters)
		return true;
	name->last = names[letter - letters];
	name->last_length = strlen(name->last);
	add_part(name, name->last, name->last_length);
	return true;
}

static bool add_one(struct name *name)
{
	if (*name->at == 'L' && is_digit(name->at[1])) /* local to one object */
		name->at++;
	if (is_digit(*name->at))
		return add_identifier(name);
	if (*name->at == 'C' || *name->at == 'D')
		return add_special(name);
	return *name->at >= 'a' && *name->at <= 'z' && add_operator(name);
}

/* Adds the parts of a name up to its E; or one part, if it is not nested. */
static bool add_name(struct name *name, bool nested)
{
	do {
		if (*name->at == 'I') {
			name->at = skip_arguments(name->at);
			if (!name->at)
				return false;
		} else if (!add_one(name)) {
			return false;
		}
	} while (nested && *name->at != 'E');
	return true;
}

void tpc_qualify(const char *symbol, struct tpc_text *to)
{
	struct name name = { .at = symbol + 2, .to = to };
	bool nested = tpc_is_mangled(symbol) && symbol[2] == 'N', known = tpc_is_mangled(symbol);

	if (nested) {
		for (name.at++; *name.at && strchr("rVKRO", *name.at);)
			name.at++;
	}
	if (known && *name.at == 'S')
		known = add_standard(&name);
	if (known && add_name(&name, nested))
		return;
	to->length = 0;
	tpc_text_add(to, symbol);
}
