/* SPDX-License-Identifier: Apache-2.0 */
#include "export/sites.h"

#include "base/pairs.h"
#include "report/rows/suppressions.h"

/* Maps (node, op) to the index + 1 of what leaks, or may leak. */
static void index_growth(const struct tpa_process *process, struct tpa_pairs *index)
{
	const struct tpa_growth_list *heap = &process->growth.heap;

	for (size_t i = 0; i < heap->leaks + heap->rising; i++)
		tpa_pairs_set(index, heap->list[i].node, heap->list[i].op, (uint32_t)i + 1);
}

static const struct tpa_growth_site *growth_of(const struct tpa_process *process, const struct tpa_pairs *index,
					       const struct tpa_site *site)
{
	uint32_t at = tpa_pairs_find(index, site->node, site->op);

	return at ? &process->growth.heap.list[at - 1] : NULL;
}

static bool is_shown(const struct tpa_export *export, const struct tpa_stack *stack)
{
	return !export->filter || tpa_stack_matches(stack, export->filter);
}

static bool is_suppressed(const struct tpa_export *export, const struct tpa_stack *stack, const struct tpa_site *site)
{
	return export->suppressions &&
	       tpa_suppressions_match(export->suppressions, stack, site->live_blocks, site->live_bytes);
}

bool tpa_export_process_sites(struct tpa_export *export, const struct tpa_process *process,
			      bool (*visit)(void *to, const struct tpa_export_site *site), void *to)
{
	size_t which = tpa_export_index(export, process);
	struct tpa_symbols *symbols = tpa_export_symbols(export, which);
	struct tpa_pairs growth = { 0 };
	struct tpa_stack stack = { 0 };
	bool good = true;

	index_growth(process, &growth);
	for (size_t i = 0; good && i < process->site_count; i++) {
		const struct tpa_site *site = &process->sites[i];
		struct tpa_export_site told = { .which = which, .process = process, .site = site, .stack = &stack };

		tpa_stack_read(&stack, process->trace, symbols, site->node);
		if (!is_shown(export, &stack) || is_suppressed(export, &stack, site))
			continue;
		told.sums = tpa_sums_of(site);
		told.op = tpa_process_op_name(process, site->op);
		told.growth = growth_of(process, &growth, site);
		good = visit(to, &told);
	}
	tpa_stack_free(&stack);
	tpa_pairs_free(&growth);
	return good;
}

bool tpa_export_sites(struct tpa_export *export, bool (*visit)(void *to, const struct tpa_export_site *site), void *to)
{
	bool good = true;

	for (size_t i = 0; good && i < export->run->process_count; i++)
		good = tpa_export_process_sites(export, &export->run->processes[i], visit, to);
	return good;
}

static bool visit_cpu(struct tpa_export *export, const struct tpa_process *process,
		      bool (*visit)(void *to, const struct tpa_export_cpu *site), void *to)
{
	size_t which = tpa_export_index(export, process);
	struct tpa_symbols *symbols = tpa_export_symbols(export, which);
	struct tpa_stack stack = { 0 };
	bool good = true;

	for (size_t i = 0; good && i < process->cpu_site_count; i++) {
		const struct tpa_cpu_site *site = &process->cpu_sites[i];
		struct tpa_export_cpu told = { .which = which, .process = process, .site = site, .stack = &stack };

		tpa_stack_read(&stack, process->trace, symbols, site->node);
		if (!is_shown(export, &stack))
			continue;
		told.op = tpa_process_op_name(process, site->op);
		told.ns = tpa_cpu_ns(process, &site->cpu);
		good = visit(to, &told);
	}
	tpa_stack_free(&stack);
	return good;
}

bool tpa_export_cpu_sites(struct tpa_export *export, bool (*visit)(void *to, const struct tpa_export_cpu *site),
			  void *to)
{
	bool good = true;

	for (size_t i = 0; good && i < export->run->process_count; i++)
		good = visit_cpu(export, &export->run->processes[i], visit, to);
	return good;
}
