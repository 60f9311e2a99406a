/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config.h"

#include "core/hash.h"
#include "core/text.h"

#include <tprof/format.h>
#include <tprof/nearest.h>
#include <tprof/size.h>

struct tpc_config tpc_config;
const struct tpc_config_ops *tpc_config_ops;

#define SAMPLE_BYTES_MAX (UINT64_C(1) << 40)

/* Copies: a program may overwrite its environment block to change its title. */
static bool read_output(const char *value)
{
	static char copy[4096];

	if (!*value || strlen(value) >= sizeof(copy))
		return false;
	memcpy(copy, value, strlen(value) + 1);
	tpc_config.output = copy;
	return true;
}

static bool read_exe(const char *value)
{
	static char copy[256];

	if (!*value || strlen(value) >= sizeof(copy))
		return false;
	memcpy(copy, value, strlen(value) + 1);
	tpc_config.exe = copy;
	return true;
}

static bool read_alloc(const char *value)
{
	if (strcmp(value, "trace") == 0)
		tpc_config.alloc = TPC_ALLOC_TRACE;
	else if (strcmp(value, "off") == 0)
		tpc_config.alloc = TPC_ALLOC_OFF;
	else if (strncmp(value, "sample:", 7) == 0 && tprof_parse_size(value + 7, &tpc_config.sample_bytes) &&
		 tpc_config.sample_bytes >= 1 && tpc_config.sample_bytes <= SAMPLE_BYTES_MAX)
		tpc_config.alloc = TPC_ALLOC_SAMPLE;
	else
		return false;
	return true;
}

static bool read_children(const char *value)
{
	tpc_config.children = value[0] != '0';
	return (value[0] == '0' || value[0] == '1') && value[1] == 0;
}

static bool read_start(const char *value)
{
	tpc_config.start_off = strcmp(value, "off") == 0;
	return tpc_config.start_off || strcmp(value, "on") == 0;
}

static bool read_range(const char *value, uint32_t low, uint32_t high, uint32_t *to)
{
	uint64_t n;

	if (!tpc_text_number(&value, &n) || *value || n < low || n > high)
		return false;
	*to = (uint32_t)n;
	return true;
}

/* A number; 0 has a second name. */
static bool read_range_or_off(const char *value, uint32_t high, uint32_t *to)
{
	return read_range(strcmp(value, "off") == 0 ? "0" : value, 0, high, to);
}

static bool read_cpu(const char *value)
{
	return read_range_or_off(value, 10000, &tpc_config.cpu);
}

static bool read_ops(const char *value)
{
	return tpc_config_ops && tpc_config_ops->set(value);
}

static bool read_counters(const char *value)
{
	return tpc_perf_events(value, &tpc_config.counters);
}

static bool read_step(const char *value)
{
	return tpc_config_ops && tpc_config_ops->set_step(value);
}

static bool read_rules(const char *value)
{
	return tpc_config_ops && tpc_config_ops->set_rules(value);
}

static bool read_depth(const char *value)
{
	return read_range(value, 1, TPC_DEPTH_MAX, &tpc_config.depth);
}

static bool read_python(const char *value)
{
	if (strcmp(value, "alloc") != 0)
		return read_range_or_off(value, TPC_PYTHON_STACKS, &tpc_config.python);
	tpc_config.python = TPC_PYTHON_ALLOC;
	return true;
}

static bool read_leakcheck(const char *value)
{
	tpc_config.leakcheck = strcmp(value, "exit") == 0;
	if (strncmp(value, "step:", 5) == 0) {
		value += 5;
		return tpc_text_number(&value, &tpc_config.leakcheck_step) && !*value && tpc_config.leakcheck_step;
	}
	return tpc_config.leakcheck || !*value;
}

static bool read_digit(char c, uint64_t *n)
{
	unsigned int digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
			     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
						    : 16;

	*n = *n << 4 | digit;
	return digit < 16;
}

/* A run, as tpc_run_text() writes it; any other text stands for its hash. */
static bool read_run(const char *value)
{
	size_t length = strlen(value);
	uint64_t n = 0;
	bool digits = length == 16;

	for (size_t i = 0; digits && i < length; i++)
		digits = read_digit(value[i], &n);
	tpc_config.run = digits ? n : length ? tpc_hash_bytes(0, value, length) : 0;
	return tpc_config.run != 0;
}

static bool read_ring(const char *value)
{
	tpc_config.ring = 0;
	if (strcmp(value, "off") == 0)
		return true;
	return tprof_parse_size(value, &tpc_config.ring) && tpc_config.ring >= TPROF_RING_LEAST &&
	       tpc_config.ring <= TPROF_RING_MOST;
}

static bool read_ring_wait(const char *value)
{
	return read_range(value, 0, 60000, &tpc_config.ring_wait);
}

static bool read_ring_folder(const char *value)
{
	return read_range(value, 1, INT32_MAX, &tpc_config.ring_folder);
}

/* Of a percentage with up to two decimals, as in 2, 2% or 0.25%. */
static bool read_max_overhead(const char *value)
{
	uint64_t whole, part = 0;
	unsigned int decimals = 0;

	tpc_config.max_overhead = 0;
	if (strcmp(value, "off") == 0)
		return true;
	if (!tpc_text_number(&value, &whole) || whole > 100)
		return false;
	if (*value == '.')
		for (value++; decimals < 2 && *value >= '0' && *value <= '9'; decimals++)
			part = part * 10 + (uint64_t)(*value++ - '0');
	part = decimals == 1 ? part * 10 : part;
	tpc_config.max_overhead = (uint32_t)(whole * 100 + part);
	return (!*value || strcmp(value, "%") == 0) && tpc_config.max_overhead >= 10 &&
	       tpc_config.max_overhead <= 10000;
}

static bool read_verbose(const char *value)
{
	return read_range(value, 0, 2, &tpc_config.verbose);
}

/* The table of options: name, parser, and for messages what is allowed and what is used instead. */
static const struct option {
	const char *name;
	bool (*read)(const char *value);
	const char *allowed, *standard; /* allowed NULL: tpc_config_ops tells it */
} options[] = {
	{ "TPROF_OUTPUT", read_output, "a file name (%p pid, %e program)", "trace.bin" },
	{ "TPROF_ALLOC", read_alloc, "trace, off or sample:BYTES, as in sample:512KiB", "trace" },
	{ "TPROF_CPU", read_cpu, "a number from 0 to 10000, or off", "99" },
	{ "TPROF_OPS", read_ops, NULL, "auto" },
	{ "TPROF_RULES", read_rules, NULL, "" },
	{ "TPROF_STEP", read_step, "a glob on function names", NULL },
	{ "TPROF_DEPTH", read_depth, "a number from 1 to 1000", "256" },
	{ "TPROF_COUNTERS", read_counters,
	  "a comma list of at most 8 counters: cycles, instructions, page-faults, ... (tprof(1)), rHEX", "" },
	{ "TPROF_CHILDREN", read_children, "0 or 1", "1" },
	{ "TPROF_EXE", read_exe, "a glob on program names", NULL },
	{ "TPROF_START", read_start, "on or off", "on" },
	{ "TPROF_PYTHON", read_python, "0 or off, 1, or alloc", "1" },
	{ "TPROF_LEAKCHECK", read_leakcheck, "exit, or step:N with N from 1 on", "" },
	{ "TPROF_RUN", read_run, "a name for the run, not empty", NULL },
	{ "TPROF_RING", read_ring, "a size from 4M to 4G, as in 256M, or off", "off" },
	{ "TPROF_RING_WAIT", read_ring_wait, "milliseconds from 0 to 60000", "10000" },
	{ "TPROF_RING_FOLDER", read_ring_folder, "a process id", NULL },
	{ "TPROF_MAX_OVERHEAD", read_max_overhead, "a percentage from 0.1% to 100%, or off", "off" },
	{ "TPROF_VERBOSE", read_verbose, "0, 1 or 2", "0" },
};

static void set_defaults(void)
{
	tpc_config = (struct tpc_config){ 0 };
	for (size_t i = 0; i < TPC_LENGTH(options); i++) {
		if (options[i].standard)
			options[i].read(options[i].standard);
	}
	read_step(""); /* none */
}

static void complain(struct tpc_text *complaints, const struct option *option, const char *value)
{
	tpc_text_add(complaints, "tprof: ");
	tpc_text_add(complaints, option->name);
	tpc_text_add(complaints, "=");
	tpc_text_add(complaints, value);
	tpc_text_add(complaints, ": allowed is ");
	if (option->allowed)
		tpc_text_add(complaints, option->allowed);
	else if (tpc_config_ops && option->read == read_ops)
		tpc_config_ops->allowed(complaints);
	else if (tpc_config_ops)
		tpc_config_ops->rules_allowed(complaints);
	tpc_text_add(complaints, "; using ");
	tpc_text_add(complaints, option->standard && *option->standard ? option->standard : "none");
	tpc_text_add(complaints, "\n");
}

/* No option has this name: suggests the one that was probably meant. */
static void complain_unknown(struct tpc_text *complaints, const char *name, size_t length)
{
	char copy[TPROF_WORD_MAX + 1];
	struct tpc_text word = tpc_text_in(copy, sizeof(copy));
	uint32_t nearest = TPROF_FAR;
	const char *meant = NULL;

	tpc_text_add_bytes(&word, name, length);
	for (size_t i = 0; i < TPC_LENGTH(options) && !word.cut; i++) {
		uint32_t distance = tprof_word_distance(copy + 6, options[i].name + 6);

		if (distance < nearest) {
			nearest = distance;
			meant = options[i].name;
		}
	}
	tpc_text_add(complaints, "tprof: ");
	tpc_text_add_bytes(complaints, name, length);
	tpc_text_add(complaints, ": not known to this version; ignored");
	if (meant) {
		tpc_text_add(complaints, "; did you mean ");
		tpc_text_add(complaints, meant);
		tpc_text_add(complaints, "?");
	}
	tpc_text_add(complaints, "\n");
}

static void read_variable(const char *name, size_t length, const char *value, struct tpc_text *complaints)
{
	for (size_t i = 0; i < TPC_LENGTH(options); i++) {
		const struct option *option = &options[i];

		if (strlen(option->name) != length || memcmp(option->name, name, length) != 0)
			continue;
		if (option->read(value))
			return;
		complain(complaints, option, value);
		if (option->standard)
			option->read(option->standard);
		return;
	}
	complain_unknown(complaints, name, length);
}

/* A variable that tprof-analyze alone reads. */
static bool is_analyzers(const char *variable)
{
	return strncmp(variable, "TPROF_CACHE=", 12) == 0;
}

void tpc_config_read(char *const *environment, struct tpc_text *complaints)
{
	set_defaults();
	for (; environment && *environment; environment++) {
		const char *equals = strchr(*environment, '=');

		if (strncmp(*environment, "TPROF_", 6) == 0 && equals && !is_analyzers(*environment))
			read_variable(*environment, (size_t)(equals - *environment), equals + 1, complaints);
	}
	if (tpc_config.max_overhead && tpc_config.alloc == TPC_ALLOC_TRACE) {
		tpc_config.alloc = TPC_ALLOC_SAMPLE;
		tpc_config.sample_bytes = 0;
	}
}
