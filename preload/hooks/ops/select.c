/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/select.h"

#include "core/text.h"
#include "hooks/ops/blas.h"
#include "hooks/ops/libraries.h"
#include "hooks/ops/onednn.h"
#include "hooks/ops/onnxruntime.h"
#include "hooks/ops/openmp.h"
#include "hooks/ops/parameters.h"

/* ---- names ---- */

/* A nested name of length-prefixed identifiers: N 2at 4_ops 5addmm 4call E (Itanium C++ ABI, 5.1.3). */
static bool read_identifier(const char **at, const char **start, size_t *length)
{
	uint64_t n;

	if (!tp_text_number(at, &n) || n == 0 || n > strnlen(*at, 256))
		return false;
	*start = *at;
	*length = (size_t)n;
	*at += n;
	return true;
}

static bool is_mangled(const char *symbol)
{
	return symbol[0] == '_' && symbol[1] == 'Z';
}

/* a::b::c of a C++ symbol, without parameters and template arguments; the symbol itself if it is none. */
static void qualify(const char *symbol, struct tp_text *to)
{
	const char *at = symbol, *start;
	size_t length;

	if (!is_mangled(symbol)) {
		tp_text_add(to, symbol);
		return;
	}
	at += symbol[2] == 'N' ? 3 : 2;
	while (*at == 'K' || *at == 'V' || *at == 'R' || *at == 'O')
		at++;
	while (read_identifier(&at, &start, &length)) {
		if (to->length)
			tp_text_add(to, "::");
		tp_text_add_bytes(to, start, length);
		if (symbol[2] != 'N')
			return;
	}
}

/* ---- presets ---- */

/* at::_ops::add_Tensor::call is known as aten::add.Tensor: an overload's name begins with a capital. */
static bool choose_torch(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	static const char prefix[] = "_ZN2at4_ops", engine[] = "_ZN5torch8autograd6Engine7executeE";
	const char *at = symbol + sizeof(prefix) - 1, *name, *call;
	size_t length, call_length;

	if (strncmp(symbol, engine, sizeof(engine) - 1) == 0) {
		tp_text_add(to, "torch::autograd::Engine::execute");
		signature->tells_usage = true;
		return true;
	}
	if (strncmp(symbol, prefix, sizeof(prefix) - 1) != 0 || !read_identifier(&at, &name, &length) ||
	    !read_identifier(&at, &call, &call_length) || call_length != 4 || memcmp(call, "call", 4) != 0)
		return false;
	tp_text_add(to, "aten::");
	for (size_t i = 0; i < length; i++) {
		bool overload = i > 0 && i + 1 < length && name[i] == '_' && name[i + 1] >= 'A' && name[i + 1] <= 'Z';

		tp_text_add_bytes(to, overload ? "." : name + i, 1);
	}
	signature->stack_known = tp_parameter_words(symbol, &signature->stack);
	return true;
}

static const struct preset {
	const char *name;
	/* Fills in what the function is called, and its signature if its arguments are understood. */
	bool (*choose)(const char *symbol, struct tp_text *to, struct tp_signature *signature);
	/* What such a symbol may begin with, one character each: of ten thousands of symbols a few are asked about. */
	const char *begins;
	bool mangled; /* among C++'s symbols, which are the many; the others among C's */
} presets[] = {
	{ "torch", choose_torch, "_", true },
	{ "blas", tp_blas_choose, "sdczi", false },
	{ "onednn", tp_onednn_choose, "d", false },
	{ "openmp", tp_openmp_choose, "G_", false },
	{ "fftw", tp_fftw_choose, "f", false },
	{ "mpi", tp_mpi_choose, "M", false },
	{ "ggml", tp_ggml_choose, "g", false },
	{ "xnnpack", tp_xnnpack_choose, "x", false },
	{ "onnxruntime", tp_onnxruntime_choose, "O", false },
	/* Not chosen by symbols: the program tells. */
	{ "itt", NULL, "", false },
	{ "nvtx", NULL, "", false },
	{ "instrument", NULL, "", false },
};

/* ---- TPROF_OPS ---- */

#define GLOBS_MAX 32

static bool use_preset[TP_LENGTH(presets)];
static struct glob {
	char text[120];
	bool excludes;
} globs[GLOBS_MAX];
static size_t glob_count;
bool tp_ops_instrumented;
static char step[120]; /* TPROF_STEP; "": none */

static bool set_one(const char *start, size_t length)
{
	struct glob *glob;

	for (size_t i = 0; i < TP_LENGTH(presets); i++) {
		bool is_auto = length == 4 && memcmp(start, "auto", 4) == 0;

		if (is_auto || (strlen(presets[i].name) == length && memcmp(start, presets[i].name, length) == 0)) {
			use_preset[i] = true;
			if (!is_auto)
				return true;
		}
		if (is_auto && i + 1 == TP_LENGTH(presets))
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
	for (size_t i = 0; i < TP_LENGTH(presets); i++) {
		if (use_preset[i])
			return true;
	}
	return false;
}

bool tp_ops_use(const char *preset)
{
	for (size_t i = 0; i < TP_LENGTH(presets); i++) {
		if (strcmp(presets[i].name, preset) == 0)
			return use_preset[i];
	}
	return false;
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

bool tp_ops_set(const char *value)
{
	bool understood = set_all(value);

	tp_ops_instrumented = tp_ops_use("instrument");
	return understood;
}

bool tp_ops_set_step(const char *value)
{
	size_t length = strlen(value);

	if (!length || length >= sizeof(step))
		return false;
	memcpy(step, value, length + 1);
	return true;
}

bool tp_ops_wanted(void)
{
	return uses_preset() || glob_count > 0 || *step;
}

/*
 * What returns twice, is the unwinder's, or is called where the compiler has all registers in use (-pg's counters): a call
 * of it through a frame of ours would go wrong.
 */
static bool is_untouchable(const char *symbol)
{
	static const char *const names[] = {
		"*setjmp*",   "*getcontext*",	"*makecontext*", "*swapcontext*", "vfork",  "_Unwind_*",
		"__cxa_*",    "__tls_get_addr", "*longjmp*",	 "_dl_*",	  "dl*",    "__libc_start_main",
		"malloc",     "free",		"calloc",	 "realloc",	  "mcount", "_mcount",
		"__fentry__", "_ITM_*",
	};

	for (size_t i = 0; i < TP_LENGTH(names); i++) {
		if (tp_text_glob(names[i], symbol))
			return true;
	}
	return false;
}

static bool choose_glob(const char *symbol, const char *name, bool excludes)
{
	for (size_t i = 0; i < glob_count; i++) {
		if (globs[i].excludes == excludes &&
		    (tp_text_glob(globs[i].text, name) || tp_text_glob(globs[i].text, symbol)))
			return true;
	}
	return false;
}

static bool begins(const struct preset *preset, char with)
{
	for (const char *letter = preset->begins; *letter; letter++) {
		if (*letter == with)
			return true;
	}
	return false;
}

static void choose_preset(const char *symbol, struct tp_text *to, struct tp_op_choice *choice)
{
	bool mangled = is_mangled(symbol);

	for (size_t i = 0; i < TP_LENGTH(presets) && !choice->category; i++) {
		if (use_preset[i] && presets[i].mangled == mangled && presets[i].choose &&
		    begins(&presets[i], *symbol) && presets[i].choose(symbol, to, &choice->signature))
			choice->category = presets[i].name;
	}
}

bool tp_ops_choose(const char *symbol, struct tp_op_choice *choice)
{
	char qualified[160];
	struct tp_text to = tp_text_in(choice->name, sizeof(choice->name));
	struct tp_text plain = tp_text_in(qualified, sizeof(qualified));

	choice->category = NULL;
	choice->ends_step = choice->refused = false;
	memset(&choice->signature, 0, sizeof(choice->signature));
	choose_preset(symbol, &to, choice);
	if (!choice->category && !glob_count && !*step)
		return false;
	qualify(symbol, &plain);
	if (!choice->category && choose_glob(symbol, qualified, false)) {
		tp_text_add(&to, qualified);
		choice->refused = is_untouchable(symbol);
		choice->category = choice->refused ? NULL : "user";
	}
	if (choice->category && (choose_glob(symbol, qualified, true) || choose_glob(symbol, choice->name, true)))
		choice->category = NULL;
	if (*step && !is_untouchable(symbol) &&
	    (tp_text_glob(step, qualified) || tp_text_glob(step, symbol) ||
	     (choice->category && tp_text_glob(step, choice->name)))) {
		choice->ends_step = true;
		if (!choice->category) {
			to = tp_text_in(choice->name, sizeof(choice->name));
			tp_text_add(&to, qualified);
			choice->signature.kind = 0;
			choice->category = "step";
		}
	}
	return choice->category != NULL;
}
