/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/memory/rules.h"

#include "core/sys.h"
#include "core/text.h"

#define RULES_MAX 1024u
#define SLOTS 4096u /* a power of two, more than twice as many */
#define FILE_MAX (1u << 20)
#define SYMBOL_MAX 255u
#define ARGUMENTS 6u

extern const char tpc_known_rules[] __attribute__((visibility("hidden"))); /* known_rules.S */
extern const char tpc_known_rules_end[] __attribute__((visibility("hidden")));

static struct tpc_alloc_rule rules[RULES_MAX];
static uint32_t rule_count;
static uint16_t slots[SLOTS]; /* by symbol, open addressing: index + 1 */
static uint16_t globs[RULES_MAX];
static uint32_t glob_count;
static struct tpc_alloc_rule_allocator allocators[TPC_RULE_ALLOCATORS];
static uint32_t allocator_count, own_from; /* own_from: the first of the file that is read */

static char given[4096];   /* the path of TPROF_RULES */
static uint32_t bad_line;  /* in it; 0: none */
static const char *defect; /* of it */

/* ---- words ---- */

struct word {
	const char *at;
	size_t length;
};

/* Where the character is, before `end`; NULL: nowhere. (memchr() uses vector registers.) */
static const char *find(const char *at, const char *end, char c)
{
	while (at < end && *at != c)
		at++;
	return at < end ? at : NULL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct word next_word(const char **at, const char *end)
{
	struct word word;

	while (*at < end && is_space(**at))
		(*at)++;
	word.at = *at;
	while (*at < end && !is_space(**at))
		(*at)++;
	word.length = (size_t)(*at - word.at);
	return word;
}

static bool is(struct word word, const char *text)
{
	return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

/* Takes a number off the front of the word. */
static bool take_number(struct word *word, uint32_t least, uint32_t most, uint32_t *to)
{
	uint64_t n = 0;
	size_t i = 0;

	for (; i < word->length && word->at[i] >= '0' && word->at[i] <= '9' && n <= most; i++)
		n = n * 10 + (uint64_t)(word->at[i] - '0');
	if (!i || n < least || n > most)
		return false;
	*word = (struct word){ word->at + i, word->length - i };
	*to = (uint32_t)n;
	return true;
}

static bool take_text(struct word *word, const char *text)
{
	size_t length = strlen(text);

	if (word->length < length || memcmp(word->at, text, length) != 0)
		return false;
	*word = (struct word){ word->at + length, word->length - length };
	return true;
}

static bool take_argument(struct word *word, uint8_t *to)
{
	uint32_t n;

	if (!take_number(word, 1, ARGUMENTS, &n))
		return false;
	*to = (uint8_t)n;
	return true;
}

/* ---- a line ---- */

/* size=N, size=N*M, bytes=N, block=N, block=*N or pool=N. `out`: whether it was block=*N. */
static bool read_argument(struct word word, struct tpc_alloc_rule *rule, bool *out)
{
	if (take_text(&word, "size="))
		return take_argument(&word, &rule->size) &&
		       (!word.length || (take_text(&word, "*") && take_argument(&word, &rule->factor) && !word.length));
	if (take_text(&word, "bytes="))
		return take_number(&word, 1, UINT32_MAX, &rule->bytes) && !word.length;
	if (take_text(&word, "block=")) {
		*out = take_text(&word, "*");
		return take_argument(&word, &rule->block) && !word.length;
	}
	return take_text(&word, "pool=") && take_argument(&word, &rule->pool) && !word.length;
}

static bool read_kind(struct word word, struct tpc_alloc_rule *rule)
{
	static const char *const names[] = { "alloc", "realloc", "free", "reset", "grow" };

	for (size_t i = 0; i < TPC_LENGTH(names); i++) {
		rule->kind = (uint8_t)i;
		if (is(word, names[i]))
			return true;
	}
	return false;
}

/* What is wrong with a rule, or NULL. */
static const char *check(const struct tpc_alloc_rule *rule, bool out)
{
	bool sized = (rule->size != 0) != (rule->bytes != 0);

	if (out != (rule->kind == TPC_RULE_ALLOC && rule->block))
		return "block=*ARGUMENT is for alloc, block=ARGUMENT for realloc and free";
	if (rule->kind <= TPC_RULE_REALLOC && !sized)
		return "alloc and realloc need size=ARGUMENT, size=ARGUMENT*ARGUMENT, or bytes=NUMBER";
	if ((rule->kind == TPC_RULE_REALLOC || rule->kind == TPC_RULE_FREE) && !rule->block)
		return "realloc and free need block=ARGUMENT";
	if (rule->kind >= TPC_RULE_RESET && !allocators[rule->allocator].is_pool)
		return "reset and grow are for pools: [NAME] pool";
	if (rule->kind == TPC_RULE_RESET && !rule->pool)
		return "reset needs pool=ARGUMENT";
	return NULL;
}

static uint32_t hash(const char *symbol, size_t length)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		h = (h ^ (uint8_t)symbol[i]) * 16777619u;
	return h ^ h >> 16;
}

static bool is_glob(struct word word)
{
	return find(word.at, word.at + word.length, '*') || find(word.at, word.at + word.length, '?');
}

static uint16_t *slot_of(const char *symbol, size_t length)
{
	uint32_t at = hash(symbol, length) & (SLOTS - 1);

	while (slots[at] &&
	       (rules[slots[at] - 1].length != length || memcmp(rules[slots[at] - 1].symbol, symbol, length) != 0))
		at = (at + 1) & (SLOTS - 1);
	return &slots[at];
}

/* A later rule for a symbol replaces an earlier one. */
static void add(const struct tpc_alloc_rule *rule)
{
	struct word word = { rule->symbol, rule->length };

	rules[rule_count++] = *rule;
	if (is_glob(word))
		globs[glob_count++] = (uint16_t)(rule_count - 1);
	else
		*slot_of(word.at, word.length) = (uint16_t)rule_count;
}

static const char *read_rule(const char *at, const char *end)
{
	struct word symbol = next_word(&at, end), word;
	struct tpc_alloc_rule rule = { .symbol = symbol.at, .length = (uint16_t)symbol.length };
	const char *wrong;
	bool out = false;

	if (allocator_count == own_from)
		return "a rule needs a line [NAME] above it";
	rule.allocator = (uint8_t)(allocator_count - 1);
	if (symbol.length > SYMBOL_MAX)
		return "a symbol has at most 255 bytes";
	if (!read_kind(next_word(&at, end), &rule))
		return "a rule is: SYMBOL alloc|realloc|free|reset|grow ARGUMENTS";
	while ((word = next_word(&at, end)).length)
		if (!read_argument(word, &rule, &out))
			return "arguments are size=1 to size=6, size=1*2, bytes=64, block=1, block=*1 and pool=1";
	wrong = check(&rule, out);
	if (wrong)
		return wrong;
	if (rule_count == RULES_MAX)
		return "there are more than 1,024 rules";
	add(&rule);
	return NULL;
}

static const char *read_allocator(const char *at, const char *end, bool builtin)
{
	struct tpc_alloc_rule_allocator *allocator = &allocators[allocator_count];
	const char *close = find(at, end, ']');
	struct word pool;

	if (!close || close == at || (size_t)(close - at) >= sizeof(allocator->name))
		return "an allocator is: [NAME], or [NAME] pool, with at most 63 bytes of name";
	if (allocator_count == TPC_RULE_ALLOCATORS)
		return "there are more than 64 allocators";
	memcpy(allocator->name, at, (size_t)(close - at));
	allocator->name[close - at] = '\0';
	at = close + 1;
	pool = next_word(&at, end);
	allocator->is_pool = is(pool, "pool");
	allocator->builtin = builtin;
	if (pool.length && !allocator->is_pool)
		return "behind [NAME] only the word pool may stand";
	allocator_count++;
	return NULL;
}

static const char *read_line(const char *at, const char *end, bool builtin)
{
	while (at < end && is_space(*at))
		at++;
	if (at == end || *at == '#')
		return NULL;
	return *at == '[' ? read_allocator(at + 1, end, builtin) : read_rule(at, end);
}

/* The number of the line that is wrong, or 0. */
static uint32_t read_rules(const char *at, const char *end, bool builtin)
{
	own_from = allocator_count;
	for (uint32_t line = 1; at < end; line++) {
		const char *stop = find(at, end, '\n');

		stop = stop ? stop : end;
		defect = read_line(at, stop, builtin);
		if (defect)
			return line;
		at = stop + (stop < end);
	}
	return 0;
}

/* ---- the file ---- */

/* It stays mapped: symbols lie in it. */
static bool map(const char *path, const char **start, size_t *bytes)
{
	struct stat status;
	int fd = tpc_sys_open(path, O_RDONLY, 0);
	void *area;

	defect = "it can't be read";
	if (fd < 0)
		return false;
	*bytes = tpc_sys_fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
	if (!*bytes || *bytes > FILE_MAX) {
		tpc_sys_close(fd);
		defect = "it is no file of 1 byte to 1 MiB";
		return false;
	}
	area = tpc_sys_mmap(*bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!tpc_sys_failed(area)) {
		long got = tpc_syscall(SYS_pread64, fd, area, *bytes, 0);

		*bytes = got > 0 ? (size_t)got : 0;
		*start = area;
	}
	tpc_sys_close(fd);
	return !tpc_sys_failed(area) && *bytes > 0;
}

bool tpc_rules_set(const char *path)
{
	const char *start;
	size_t bytes;

	rule_count = glob_count = allocator_count = 0;
	memset(slots, 0, sizeof(slots));
	bad_line = read_rules(tpc_known_rules, tpc_known_rules_end, true);
	given[0] = '\0';
	if (!*path)
		return true;
	if (strlen(path) >= sizeof(given)) {
		defect = "the path is too long";
		return false;
	}
	if (!map(path, &start, &bytes))
		return false;
	bad_line = read_rules(start, start + bytes, false);
	if (bad_line)
		return false;
	memcpy(given, path, strlen(path) + 1);
	return true;
}

void tpc_rules_allowed(struct tpc_text *to)
{
	tpc_text_add(to, "a file of rules, tprof-rules(5): ");
	if (bad_line) {
		tpc_text_add(to, "line ");
		tpc_text_add_number(to, bad_line);
		tpc_text_add(to, ": ");
	}
	tpc_text_add(to, defect ? defect : "");
}

/* ---- asking ---- */

const struct tpc_alloc_rule *tpc_alloc_rule_find(const char *symbol)
{
	size_t length = strnlen(symbol, SYMBOL_MAX + 1);
	char name[SYMBOL_MAX + 1];
	uint16_t found;

	if (length > SYMBOL_MAX)
		return NULL;
	found = *slot_of(symbol, length);
	if (found)
		return &rules[found - 1];
	for (uint32_t i = 0; i < glob_count; i++) {
		const struct tpc_alloc_rule *rule = &rules[globs[i]];

		memcpy(name, rule->symbol, rule->length);
		name[rule->length] = '\0';
		if (tpc_text_glob(name, symbol))
			return rule;
	}
	return NULL;
}

const struct tpc_alloc_rule_allocator *tpc_alloc_rule_allocator(uint32_t number)
{
	return &allocators[number];
}

bool tpc_rules_any(bool (*look)(const char *symbol, void *context), void *context)
{
	char name[SYMBOL_MAX + 1];

	for (uint32_t i = 0; i < SLOTS; i++) {
		const struct tpc_alloc_rule *rule = slots[i] ? &rules[slots[i] - 1] : NULL;

		if (!rule)
			continue;
		memcpy(name, rule->symbol, rule->length);
		name[rule->length] = '\0';
		if (look(name, context))
			return true;
	}
	return false;
}

bool tpc_rules_given(void)
{
	return given[0] != '\0';
}
