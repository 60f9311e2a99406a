/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/op_globs.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char *setting(const struct tpa_trace *trace, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < trace->env_count; i++)
		if (strncmp(trace->env[i], name, length) == 0 && trace->env[i][length] == '=')
			return trace->env[i] + length + 1;
	return NULL;
}

/* Words of TPROF_OPS that are presets, not globs (tprof(1), OPERATORS). */
static bool is_preset(const char *word)
{
	static const char *const presets[] = { "auto",	      "off",  "torch", "blas", "onednn",
					       "openmp",      "fftw", "mpi",   "ggml", "xnnpack",
					       "onnxruntime", "cuda", "itt",   "nvtx", "instrument" };

	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		if (strcmp(presets[i], word) == 0)
			return true;
	return false;
}

static bool is_met(const struct tpa_trace *trace, const char *glob)
{
	for (size_t i = 1; i < trace->op_count; i++)
		if (trace->ops[i].name && fnmatch(glob, trace->ops[i].name, FNM_NOESCAPE) == 0)
			return true;
	return false;
}

/*
 * Does every user op match a glob by name? If not, some glob matched a symbol, which is not in the trace, and it is not known which
 * globs matched nothing.
 */
static bool are_all_by_name(const struct tpa_trace *trace, char *const *globs, size_t count)
{
	for (size_t i = 1; i < trace->op_count; i++) {
		const struct tpa_op *op = &trace->ops[i];
		bool met = !op->name || !op->category || strcmp(op->category, "user") != 0 ||
			   op->origin != TPROF_OP_FUNCTION;

		for (size_t g = 0; !met && g < count; g++)
			met = fnmatch(globs[g], op->name, FNM_NOESCAPE) == 0;
		if (!met)
			return false;
	}
	return true;
}

/* Splits `list` in place at its commas and stores up to `most` globs. Returns their number. */
static size_t split_globs(char *list, char **globs, size_t most)
{
	size_t count = 0;
	char *word;

	while ((word = strsep(&list, ",")) && count < most)
		if (*word && *word != '-' && !is_preset(word))
			globs[count++] = word;
	return count;
}

char *tpa_op_globs_unmet(const struct tpa_trace *trace)
{
	const char *value = setting(trace, "TPROF_OPS");
	char *list = value ? tpa_strdup(value) : NULL, *globs[64], *unmet = NULL;
	size_t count = list ? split_globs(list, globs, sizeof(globs) / sizeof(globs[0])) : 0, size = 0;
	FILE *out = count && are_all_by_name(trace, globs, count) ? open_memstream(&unmet, &size) : NULL;

	for (size_t i = 0; out && i < count; i++)
		if (!is_met(trace, globs[i]))
			fprintf(out, "%s%s", ftell(out) ? ", " : "", globs[i]);
	if (out)
		fclose(out);
	free(list);
	if (size)
		return unmet;
	free(unmet);
	return NULL;
}

const char *tpa_step_glob_unmet(const struct tpa_trace *trace)
{
	const char *glob = setting(trace, "TPROF_STEP");

	return glob && !is_met(trace, glob) ? glob : NULL;
}
