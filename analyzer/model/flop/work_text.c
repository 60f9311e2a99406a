/* SPDX-License-Identifier: Apache-2.0 */
#include "model/flop/work_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct writer {
	char *at, *end;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *to, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(to->at, (size_t)(to->end - to->at), format, args);
	va_end(args);
	if (length > 0)
		to->at += length < to->end - to->at ? length : to->end - to->at - 1;
}

static void put_flags(struct writer *to, const struct tpa_work *work)
{
	static const char *const transposed[] = { "NN", "TN", "NT", "TT" };
	uint8_t flags = work->flags;

	if (work->kind == TPROF_WORK_GEMM || work->kind == TPROF_WORK_GEMMT)
		put(to, " %s", transposed[flags & 3]);
	else if (flags & TPROF_WORK_TRANS_A)
		put(to, " T");
	if (flags & TPROF_WORK_RIGHT)
		put(to, " right");
	if (flags & TPROF_WORK_BACKWARD)
		put(to, " backward");
	if (flags & TPROF_WORK_WEIGHTS)
		put(to, " weights");
	if (flags & TPROF_WORK_QUERY)
		put(to, " (workspace query)");
}

/* "u8 s8 -> s32": the types of input, second tensor and result; the latter two only if they differ from the input's. */
static void put_types(struct writer *to, const struct tpa_work *work)
{
	put(to, " %s", tpa_dtype(work->dtype)->name);
	if (work->second && work->second != work->dtype)
		put(to, " %s", tpa_dtype(work->second) ? tpa_dtype(work->second)->name : "?");
	if (work->result && work->result != work->dtype)
		put(to, " -> %s", tpa_dtype(work->result) ? tpa_dtype(work->result)->name : "?");
}

void tpa_work_shape(const struct tpa_work *work, char *text, size_t size)
{
	const struct tpa_work_row *row = tpa_work_row(work->kind);
	const char *name = row ? row->dims : "";
	struct writer to = { text, text + size };

	*text = '\0';
	if (!row)
		put(&to, "kind %u:", work->kind);
	for (unsigned i = 0; i < work->dims; i++) {
		int length = (int)strcspn(name, " ");

		if (row && !*name)
			break;
		put(&to, i ? " " : row ? "" : " ");
		if (row)
			put(&to, "%.*s=", length, name);
		put(&to, "%llu", (unsigned long long)work->dim[i]);
		name += length + (name[length] == ' ');
	}
	put_flags(&to, work);
	if (row && row->says_type && tpa_dtype(work->dtype))
		put_types(&to, work);
}

void tpa_fold_shape(const struct tpa_folded *folded, char *text, size_t size)
{
	const struct tpa_work_row *row = tpa_work_row(folded->work.kind);
	uint64_t low = UINT64_C(1) << (63 - (unsigned)__builtin_clzll(folded->work.dim[0] | 1));

	*text = '\0';
	if (!folded->sums && folded->work.kind)
		tpa_work_shape(&folded->work, text, size);
	else if (row)
		snprintf(text, size, "%s=%llu..%llu", row->dims, (unsigned long long)(low > 1 ? low : 0),
			 (unsigned long long)(2 * low - 1));
}