/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/machine.h"

#include <ctype.h>
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache_folder.h"
#include "base/memory.h"

#define SCHEMA "tprof-machine/1"

const char *const tpa_width_names[TPA_WIDTHS] = { "SSE", "AVX2", "AVX-512", "AMX" };
const char *const tpa_level_names[TPA_LEVELS] = { "L1", "L2", "L3", "memory" };

/* ---- identification ---- */

static void read_model(char *model, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(model, size, "unknown processor");
	while (f && fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !value)
			continue;
		value[strcspn(value, "\n")] = '\0';
		snprintf(model, size, "%s", value + 1 + strspn(value + 1, " "));
		break;
	}
	if (f)
		fclose(f);
}

static bool read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "r");
	bool good = f && fgets(line, size, f);

	if (f)
		fclose(f);
	return good;
}

/* Sizes of the first core's data and unified caches, from the kernel. */
static void read_caches(uint64_t bytes[TPA_LEVEL_MEMORY])
{
	for (int index = 0; index < 8; index++) {
		char path[128], level[16], type[32], size[32];
		char *unit;
		uint64_t value;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/level", index);
		if (!read_line(path, level, sizeof(level)))
			break;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/type", index);
		if (!read_line(path, type, sizeof(type)) || type[0] == 'I')
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
		if (!read_line(path, size, sizeof(size)) || level[0] < '1' || level[0] > '3')
			continue;
		value = strtoull(size, &unit, 10);
		bytes[level[0] - '1'] = value << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 0);
	}
}

void tpa_machine_identify(struct tpa_machine *machine)
{
	static const int names[] = { _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE };
	cpu_set_t allowed;

	memset(machine, 0, sizeof(*machine));
	read_model(machine->cpu, sizeof(machine->cpu));
	machine->cores = 1;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		machine->cores = (uint32_t)CPU_COUNT(&allowed);
	read_caches(machine->cache_bytes);
	for (int level = 0; level < TPA_LEVEL_MEMORY; level++) {
		long size = machine->cache_bytes[level] ? 0 : sysconf(names[level]);

		if (size > 0)
			machine->cache_bytes[level] = (uint64_t)size;
	}
	if (!machine->cache_bytes[TPA_LEVEL_L1]) /* a container without /sys: assume the smallest size in use */
		machine->cache_bytes[TPA_LEVEL_L1] = 32768;
}

/* ---- arithmetic ---- */

struct tpa_rate tpa_machine_peak(const struct tpa_machine *machine, enum tpa_precision precision)
{
	struct tpa_rate peak = { 0, 0 };

	precision = precision < TPA_PRECISIONS ? precision : TPA_SINGLE;
	for (int width = 0; width < TPA_WIDTHS; width++) {
		const struct tpa_rate *rate = &machine->flops[width][precision];

		peak.one = rate->one > peak.one ? rate->one : peak.one;
		peak.all = rate->all > peak.all ? rate->all : peak.all;
	}
	if (precision > TPA_DOUBLE) {
		struct tpa_rate single = tpa_machine_peak(machine, TPA_SINGLE);

		peak.one = peak.one > single.one ? peak.one : single.one;
		peak.all = peak.all > single.all ? peak.all : single.all;
	}
	return peak;
}

double tpa_rate_at(const struct tpa_rate *rate, uint32_t cores, uint32_t of, bool shared)
{
	double linear;

	if (cores <= 1 || of <= 1)
		return rate->one;
	if (cores >= of)
		return rate->all;
	linear = shared ? rate->one * cores : rate->one + (rate->all - rate->one) * (cores - 1) / (of - 1);
	return linear < rate->all || !shared ? linear : rate->all;
}

/* ---- the file ---- */

char *tpa_machine_path(const struct tpa_machine *machine)
{
	char name[sizeof(machine->cpu)], *file, *path;
	size_t used = 0;

	for (const char *c = machine->cpu; *c; c++) {
		if (isalnum((unsigned char)*c))
			name[used++] = *c;
		else if (used && name[used - 1] != '-')
			name[used++] = '-';
	}
	name[used] = '\0';
	file = tpa_format("%s-%u.json", name, machine->cores);
	path = tpa_cache_path(file);
	free(file);
	return path;
}

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static bool read_rate(const json_t *json, struct tpa_rate *rate)
{
	rate->one = number(json, "one");
	rate->all = number(json, "all");
	return rate->one >= 0 && rate->one < 1e9 && rate->all >= 0 && rate->all < 1e9;
}

static bool take(struct tpa_machine *machine, const json_t *json)
{
	const char *schema = json_string_value(json_object_get(json, "schema"));
	const char *cpu = json_string_value(json_object_get(json, "cpu"));
	const json_t *flops = json_object_get(json, "gflops"), *bandwidth = json_object_get(json, "gbytes_per_s");
	const json_t *caches = json_object_get(json, "cache_bytes");
	bool good = schema && strcmp(schema, SCHEMA) == 0 && cpu && number(json, "cores") >= 1;

	memset(machine, 0, sizeof(*machine));
	if (!good)
		return false;
	snprintf(machine->cpu, sizeof(machine->cpu), "%s", cpu);
	machine->cores = (uint32_t)number(json, "cores");
	machine->measured_unix_s = (uint64_t)number(json, "measured_unix_s");
	for (int width = 0; width < TPA_WIDTHS; width++) {
		const json_t *row = json_object_get(flops, tpa_width_names[width]);

		for (int precision = 0; precision < TPA_PRECISIONS; precision++)
			good = good && read_rate(json_object_get(row, tpa_precision_names[precision]),
						 &machine->flops[width][precision]);
	}
	for (int level = 0; level < TPA_LEVELS; level++)
		good = good &&
		       read_rate(json_object_get(bandwidth, tpa_level_names[level]), &machine->bandwidth[level]);
	for (int level = 0; level < TPA_LEVEL_MEMORY; level++)
		machine->cache_bytes[level] =
			(uint64_t)json_integer_value(json_object_get(caches, tpa_level_names[level]));
	return good && tpa_machine_peak(machine, TPA_SINGLE).one > 0 && machine->bandwidth[TPA_LEVEL_MEMORY].one > 0;
}

bool tpa_machine_read(struct tpa_machine *machine, const char *path, const char **error)
{
	json_error_t where;
	json_t *json;
	bool good;

	*error = "it is not there, or can't be read";
	if (access(path, R_OK) != 0)
		return false;
	*error = "it is not a machine's file: measure anew, with --measure";
	json = json_load_file(path, 0, &where);
	good = json && take(machine, json);
	json_decref(json);
	return good;
}

static json_t *rate_json(const struct tpa_rate *rate)
{
	return json_pack("{s:f, s:f}", "one", rate->one, "all", rate->all);
}

json_t *tpa_machine_json(const struct tpa_machine *machine, json_t *(*rate)(const struct tpa_rate *))
{
	json_t *flops = json_object(), *bandwidth = json_object(), *caches = json_object();

	for (int width = 0; width < TPA_WIDTHS; width++) {
		json_t *row = json_object();

		for (int precision = 0; precision < TPA_PRECISIONS; precision++)
			json_object_set_new(row, tpa_precision_names[precision],
					    rate(&machine->flops[width][precision]));
		json_object_set_new(flops, tpa_width_names[width], row);
	}
	for (int level = 0; level < TPA_LEVELS; level++)
		json_object_set_new(bandwidth, tpa_level_names[level], rate(&machine->bandwidth[level]));
	for (int level = 0; level < TPA_LEVEL_MEMORY; level++)
		json_object_set_new(caches, tpa_level_names[level],
				    json_integer((json_int_t)machine->cache_bytes[level]));
	return json_pack("{s:s, s:I, s:I, s:o, s:o, s:o}", "cpu", machine->cpu, "cores", (json_int_t)machine->cores,
			 "measured_unix_s", (json_int_t)machine->measured_unix_s, "gflops", flops, "gbytes_per_s",
			 bandwidth, "cache_bytes", caches);
}

bool tpa_machine_write(const struct tpa_machine *machine, const char *path)
{
	json_t *json = tpa_machine_json(machine, rate_json);
	char *draft = tpa_format("%s.%d", path, (int)getpid());
	bool good;

	json_object_set_new(json, "schema", json_string(SCHEMA));
	tpa_make_folders(path);
	good = json_dump_file(json, draft, JSON_INDENT(2)) == 0 && rename(draft, path) == 0;
	if (!good)
		unlink(draft);
	json_decref(json);
	free(draft);
	return good;
}
