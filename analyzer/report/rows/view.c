/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/view.h"

#include "report/rows/process_facts.h"

const char *tp_verdict_name(enum tp_verdict verdict, bool seconds)
{
	static const char *const names[] = { "stable", "leak", "warm-up", "sawtooth", "burst", "rising" };

	return verdict == TP_VERDICT_LEAK && seconds ? "growth" : names[verdict];
}

bool tp_growth_unknown(const struct tp_growth_view *view)
{
	return tp_heap_unknown(&view->listing.run->processes[view->process]);
}

bool tp_growth_shown(const struct tp_growth_view *view, uint32_t node)
{
	const struct tp_listing *listing = &view->listing;
	struct tp_stack stack = { NULL };
	bool result = true;

	if (!view->filter && !view->suppressions)
		return true;
	if (tp_stack_read(&stack, listing->run->processes[view->process].trace, listing->symbols[view->process], node))
		result = (!view->filter || tp_stack_matches(&stack, view->filter)) &&
			 (!view->suppressions || !tp_suppressions_match(view->suppressions, &stack, 0, 0));
	tp_stack_free(&stack);
	return result;
}
