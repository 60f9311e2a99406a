/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/select.h"

#include "core/text.h"
#include "hooks/ops/preset.h"
#include "hooks/ops/qualify.h"

#include <tprof/nearest.h>

/* ---- TPROF_OPS ---- */

#define GLOBS_MAX 32

static bool use_preset[TPC_PRESETS];
/*
 * Bit i: tpc_presets[i] is in use and is asked about C symbols that begin with that character; of_mangled: about C++
 * symbols.
 */
static uint32_t of_letter[UINT8_MAX + 1], of_mangled;

_Static_assert(TPC_PRESETS < 32, "a bit each");

static struct glob {
	char text[120];
	bool excludes;
} globs[GLOBS_MAX];
static size_t glob_count;
bool tpc_ops_instrumented;
static char step[120]; /* TPROF_STEP; "": none */

static bool set_one(const char *start, size_t length)
{
	struct glob *glob;

	for (size_t i = 0; i < TPC_PRESETS; i++) {
		bool is_auto = length == 4 && memcmp(start, "auto", 4) == 0;

		if (is_auto ||
		    (strlen(tpc_presets[i].name) == length && memcmp(start, tpc_presets[i].name, length) == 0)) {
			use_preset[i] = true;
			if (!is_auto)
				return true;
		}
		if (is_auto && i + 1 == TPC_PRESETS)
			return true;
	}
	glob = &globs[glob_count];
	glob->excludes = *start == '-';
	start += glob->excludes;
	length -= glob->excludes;
	if (glob_count == GLOBS_MAX || length == 0 || length >= sizeof(glob->text))
		return false;
	memcpy(glob->text, start, length);
	glob->text[length] = 0;
	glob_count++;
	return true;
}

static bool uses_preset(void)
{
	for (size_t i = 0; i < TPC_PRESETS; i++) {
		if (use_preset[i])
			return true;
	}
	return false;
}

bool tpc_ops_use(const char *preset)
{
	for (size_t i = 0; i < TPC_PRESETS; i++) {
		if (strcmp(tpc_presets[i].name, preset) == 0)
			return use_preset[i];
	}
	return false;
}

static void index_presets(void)
{
	memset(of_letter, 0, sizeof(of_letter));
	of_mangled = 0;
	for (size_t i = 0; i < TPC_PRESETS; i++) {
		uint32_t bit = use_preset[i] ? UINT32_C(1) << i : 0;

		for (const char *letter = tpc_presets[i].letters; *letter; letter++)
			of_letter[(uint8_t)*letter] |= bit;
		if (tpc_presets[i].mangled[0])
			of_mangled |= bit;
	}
}

static bool set_all(const char *value)
{
	memset(use_preset, 0, sizeof(use_preset));
	glob_count = 0;
	if (strcmp(value, "off") == 0)
		return true;
	while (*value) {
		size_t length = strcspn(value, ",");

		if (length && !set_one(value, length))
			return false;
		value += length + (value[length] == ',');
	}
	return glob_count > 0 || uses_preset();
}

bool tpc_ops_set(const char *value)
{
	bool understood = set_all(value);

	index_presets();
	tpc_ops_instrumented = tpc_ops_use("instrument");
	return understood;
}

static bool has_any(const char *text, const char *letters)
{
	return text[strcspn(text, letters)] != 0;
}

/* Function names contain underscores or colons, or begin unlike any preset; a word with stars is deliberate. */
static const char *nearest_preset(const struct glob *glob)
{
	const char *nearest = NULL;
	uint32_t least = TPROF_FAR;

	for (size_t i = 0; i < TPC_PRESETS && !glob->excludes && !has_any(glob->text, "*?:_"); i++) {
		uint32_t distance = tprof_word_distance(glob->text, tpc_presets[i].name);

		if (distance < least) {
			least = distance;
			nearest = tpc_presets[i].name;
		}
	}
	return nearest;
}

const char *tpc_ops_doubtful(const char **meant)
{
	for (size_t i = 0; i < glob_count; i++) {
		*meant = nearest_preset(&globs[i]);
		if (*meant)
			return globs[i].text;
	}
	return NULL;
}

void tpc_ops_allowed(struct tpc_text *to)
{
	tpc_text_add(to, "a comma list of auto");
	for (size_t i = 0; i < TPC_PRESETS; i++) {
		tpc_text_add(to, ", ");
		tpc_text_add(to, tpc_presets[i].name);
	}
	tpc_text_add(to, " and globs, or off");
}

bool tpc_ops_set_step(const char *value)
{
	size_t length = strlen(value);

	step[0] = 0;
	if (!length || length >= sizeof(step))
		return false;
	memcpy(step, value, length + 1);
	return true;
}

bool tpc_ops_wanted(void)
{
	return uses_preset() || glob_count > 0 || *step;
}

/*
 * Functions that return twice, belong to the unwinder, or are called where the compiler has all registers in use (-pg's
 * counters): calling them through a frame of ours would go wrong. And the functions that report others
 * (-finstrument-functions).
 */
static bool is_untouchable(const char *symbol)
{
	static const char *const names[] = {
		"*setjmp*",
		"*getcontext*",
		"*makecontext*",
		"*swapcontext*",
		"*vfork",
		"_Unwind_*",
		"__cxa_*",
		"__tls_get_addr",
		"*longjmp*",
		"_dl_*",
		"dl*",
		"__libc_start_main",
		"malloc",
		"free",
		"calloc",
		"realloc",
		"mcount",
		"_mcount",
		"__fentry__",
		"_ITM_*",
		"__cyg_profile_func_*",
	};

	for (size_t i = 0; i < TPC_LENGTH(names); i++) {
		if (tpc_text_glob(names[i], symbol))
			return true;
	}
	return false;
}

static bool choose_glob(const char *symbol, const char *name, bool excludes)
{
	for (size_t i = 0; i < glob_count; i++) {
		if (globs[i].excludes == excludes &&
		    (tpc_text_glob(globs[i].text, name) || tpc_text_glob(globs[i].text, symbol)))
			return true;
	}
	return false;
}

/* `*` is every function that pointers lead to; a program's every function in its code would be too much. */
static bool names_some(const char *glob)
{
	while (*glob == '*')
		glob++;
	return *glob != '\0';
}

bool tpc_ops_any_named(void)
{
	for (size_t i = 0; i < glob_count; i++) {
		if (!globs[i].excludes && names_some(globs[i].text))
			return true;
	}
	return *step && names_some(step);
}

static bool is_named(const char *glob, const char *symbol, const char *qualified)
{
	return names_some(glob) && (tpc_text_glob(glob, qualified) || tpc_text_glob(glob, symbol));
}

bool tpc_ops_asked(const char *symbol)
{
	char qualified[160];
	struct tpc_text plain = tpc_text_in(qualified, sizeof(qualified));

	tpc_qualify(symbol, &plain);
	for (size_t i = 0; i < glob_count; i++) {
		if (!globs[i].excludes && is_named(globs[i].text, symbol, qualified))
			return true;
	}
	return *step && is_named(step, symbol, qualified);
}

/* No call of libc's strncmp(): nearly all symbols differ in the first few characters. */
static bool starts_with(const char *symbol, const char *text)
{
	for (; *text; text++, symbol++) {
		if (*symbol != *text)
			return false;
	}
	return true;
}

static bool begins(const struct tpc_preset *preset, const char *symbol)
{
	for (size_t i = 0; i < TPC_LENGTH(preset->mangled) && preset->mangled[i]; i++) {
		if (starts_with(symbol, preset->mangled[i]))
			return true;
	}
	return false;
}

/* The next preset, from number `from` on, that is to be asked about the symbol; TPC_PRESETS: none. */
static inline size_t next_preset(size_t from, const char *symbol)
{
	bool mangled = tpc_is_mangled(symbol);
	uint32_t left = mangled ? of_mangled : of_letter[(uint8_t)*symbol];

	for (left &= UINT32_MAX << from; left; left &= left - 1) {
		size_t preset = (size_t)__builtin_ctz(left);

		if (!mangled || begins(&tpc_presets[preset], symbol))
			return preset;
	}
	return TPC_PRESETS;
}

static void forget(struct tpc_text *to, struct tpc_op_choice *choice)
{
	*to = tpc_text_in(choice->name, sizeof(choice->name));
	memset(&choice->signature, 0, sizeof(choice->signature));
}

static void choose_preset(size_t first, const char *symbol, struct tpc_text *to, struct tpc_op_choice *choice)
{
	for (size_t i = first; i < TPC_PRESETS && !choice->category; i = next_preset(i + 1, symbol)) {
		if (tpc_presets[i].choose(symbol, to, &choice->signature))
			choice->category = tpc_presets[i].name;
	}
}

/* Chosen by a glob on the name that an unused preset gives the function: aten::addmm. That preset describes it. */
static void choose_named(const char *symbol, struct tpc_text *to, struct tpc_op_choice *choice)
{
	for (size_t i = 0; i < TPC_PRESETS && !choice->category; i++) {
		bool asked = tpc_is_mangled(symbol) ? begins(&tpc_presets[i], symbol)
						    : strchr(tpc_presets[i].letters, *symbol) != NULL;

		if (use_preset[i] || !tpc_presets[i].choose || !asked)
			continue;
		if (tpc_presets[i].choose(symbol, to, &choice->signature) &&
		    choose_glob(choice->name, choice->name, false))
			choice->category = tpc_presets[i].name;
		else
			forget(to, choice);
	}
}

bool tpc_ops_choose(const char *symbol, struct tpc_op_choice *choice)
{
	size_t preset = next_preset(0, symbol);
	struct tpc_text to, plain;
	char qualified[160];

	choice->category = NULL;
	choice->ends_step = choice->refused = false;
	if (preset == TPC_PRESETS && !glob_count && !*step)
		return false;
	forget(&to, choice);
	plain = tpc_text_in(qualified, sizeof(qualified));
	choose_preset(preset, symbol, &to, choice);
	if (!choice->category && !glob_count && !*step)
		return false;
	tpc_qualify(symbol, &plain);
	if (!choice->category && choose_glob(symbol, qualified, false)) {
		tpc_text_add(&to, qualified);
		choice->refused = is_untouchable(symbol);
		choice->category = choice->refused ? NULL : "user";
	}
	if (!choice->category && !choice->refused && glob_count)
		choose_named(symbol, &to, choice);
	if (choice->category && (choose_glob(symbol, qualified, true) || choose_glob(symbol, choice->name, true)))
		choice->category = NULL;
	if (*step && !is_untouchable(symbol) &&
	    (tpc_text_glob(step, qualified) || tpc_text_glob(step, symbol) ||
	     (choice->category && tpc_text_glob(step, choice->name)))) {
		choice->ends_step = true;
		if (!choice->category) {
			to = tpc_text_in(choice->name, sizeof(choice->name));
			tpc_text_add(&to, qualified);
			choice->signature.kind = 0;
			choice->category = "step";
		}
	}
	return choice->category != NULL;
}
