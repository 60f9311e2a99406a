/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl3.h"

#include <stdlib.h>

struct dnnl_memory {
	char before[100]; /* not as version 2's structure begins */
	int64_t dims[12];
	int count, type;
};

struct dnnl_descriptor {
	int kind, propagation, algorithm;
	const int64_t *kernel;
	struct dnnl_memory *memories[256];
};

struct dnnl_primitive {
	const struct dnnl_descriptor *descriptor;
};

struct version {
	int major, minor, patch;
};

const struct version *dnnl_version(void);
int dnnl_primitive_get_primitive_desc(const struct dnnl_primitive *primitive, const struct dnnl_descriptor **to);
int dnnl_primitive_desc_query(const struct dnnl_descriptor *descriptor, int what, int index, void *result);
const struct dnnl_memory *dnnl_primitive_desc_query_md(const struct dnnl_descriptor *descriptor, int what, int index);
int dnnl_memory_desc_query(const struct dnnl_memory *memory, int what, void *result);

const struct version *dnnl_version(void)
{
	static const struct version version = { 3, 5, 3 };

	return &version;
}

struct dnnl_memory *dnnl3_memory(int type, const int64_t *dims)
{
	struct dnnl_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		abort();
	memory->type = type;
	while (dims[memory->count]) {
		memory->dims[memory->count] = dims[memory->count];
		memory->count++;
	}
	return memory;
}

struct dnnl_descriptor *dnnl3_descriptor(int kind, int propagation, int algorithm, const int64_t *kernel)
{
	struct dnnl_descriptor *descriptor = calloc(1, sizeof(*descriptor));

	if (!descriptor)
		abort();
	descriptor->kind = kind;
	descriptor->propagation = propagation;
	descriptor->algorithm = algorithm;
	descriptor->kernel = kernel;
	return descriptor;
}

void dnnl3_add(struct dnnl_descriptor *descriptor, int what, struct dnnl_memory *memory)
{
	descriptor->memories[what] = memory;
}

int dnnl_primitive_create(struct dnnl_primitive **primitive, const struct dnnl_descriptor *descriptor)
{
	*primitive = malloc(sizeof(**primitive));
	if (!*primitive)
		return 1;
	(*primitive)->descriptor = descriptor;
	return 0;
}

int dnnl_primitive_execute(const struct dnnl_primitive *primitive, void *stream, int count, const void *arguments)
{
	(void)stream, (void)count, (void)arguments;
	return primitive->descriptor->kind == 0;
}

int dnnl_primitive_destroy(struct dnnl_primitive *primitive)
{
	free(primitive);
	return 0;
}

int dnnl_primitive_get_primitive_desc(const struct dnnl_primitive *primitive, const struct dnnl_descriptor **to)
{
	*to = primitive->descriptor;
	return 0;
}

/* The numbers are dnnl_query_t's of version 3; what was not asked for in its time is refused. */
int dnnl_primitive_desc_query(const struct dnnl_descriptor *descriptor, int what, int index, void *result)
{
	(void)index;
	switch (what) {
	case 2:
		*(int *)result = descriptor->kind;
		return 0;
	case 3:
		*(int *)result = 2;
		return 0;
	case 8:
		*(const char **)result = "mock:any";
		return 0;
	case 11:
		*(int *)result = descriptor->propagation;
		return 0;
	case 20:
		*(int *)result = descriptor->algorithm;
		return descriptor->algorithm ? 0 : 2;
	case 31:
		*(const int64_t **)result = descriptor->kernel;
		return descriptor->kernel ? 0 : 2;
	default:
		return 2;
	}
}

const struct dnnl_memory *dnnl_primitive_desc_query_md(const struct dnnl_descriptor *descriptor, int what, int index)
{
	return index || what < 0 || what > 255 ? NULL : descriptor->memories[what];
}

int dnnl_memory_desc_query(const struct dnnl_memory *memory, int what, void *result)
{
	switch (what) {
	case 256:
		*(int *)result = memory->count;
		return 0;
	case 257:
		*(const int64_t **)result = memory->dims;
		return 0;
	case 258:
		*(int *)result = memory->type;
		return 0;
	default:
		return 2;
	}
}
