/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/view.h"

#include "report/rows/process_facts.h"

const char *tpa_verdict_name(enum tpa_verdict verdict, bool seconds)
{
	static const char *const names[] = { "stable", "leak", "warm-up", "sawtooth", "burst", "rising", "work" };

	return verdict == TPA_VERDICT_LEAK && seconds ? "growth" : names[verdict];
}

bool tpa_growth_unknown(const struct tpa_growth_view *view)
{
	return tpa_heap_unknown(&view->listing.run->processes[view->process]);
}

bool tpa_growth_shown(const struct tpa_growth_view *view, uint32_t node)
{
	const struct tpa_listing *listing = &view->listing;
	struct tpa_stack stack = { NULL };
	bool result;

	if (!view->filter && !view->suppressions)
		return true;
	tpa_stack_read(&stack, listing->run->processes[view->process].trace, listing->symbols[view->process], node);
	result = (!view->filter || tpa_stack_matches(&stack, view->filter)) &&
		 (!view->suppressions || !tpa_suppressions_match(view->suppressions, &stack, 0, 0));
	tpa_stack_free(&stack);
	return result;
}
