/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/tree_report.h"

#include <inttypes.h>
#include <unistd.h>

#include "commands/site_report.h"
#include "report/text/coverage.h"
#include "report/text/numbers.h"
#include "report/text/process_listing.h"

/* A first level of its own where there are `several`. */
static bool add_process(struct tp_session *session, size_t index, struct tp_tree *tree,
			const struct tp_tree_options *options, bool several)
{
	const struct tp_process *process = &session->run->processes[index];
	struct tp_symbols *symbols = tp_session_symbols(session, index);
	struct tp_tree_options mine = *options;
	char label[300];

	if (!symbols)
		return false;
	snprintf(label, sizeof(label), "%.200s (pid %" PRIu32 ")", tp_program_name(process->trace),
		 process->trace->header->pid);
	mine.label = several ? label : NULL;
	return tp_tree_add(tree, process, symbols, &mine);
}

/* Suppressions are the user's choice here, except for what was not freed: there the built-in ones are for. */
struct tp_tree *tp_session_tree(struct tp_session *session, size_t process, enum tp_what what,
				struct tp_suppressions *suppressions)
{
	const struct tp_options *options = session->options;
	struct tp_tree_options tree_options = { .what = what };
	bool all = process == session->run->process_count;
	size_t first = all ? 0 : process, last = all ? process : process + 1;
	struct tp_tree *tree = tp_tree_new();
	bool good = tree != NULL;
	regex_t filter;

	if (what == TP_WHAT_UNFREED || options->suppression_count)
		tree_options.suppressions = suppressions;
	if (options->filter && regcomp(&filter, options->filter, REG_EXTENDED | REG_NOSUB) == 0)
		tree_options.filter = &filter;
	for (size_t i = first; good && i < last; i++)
		good = add_process(session, i, tree, &tree_options, last - first > 1);
	good = good && tp_tree_finish(tree);
	if (tree_options.filter)
		regfree(&filter);
	if (good)
		return tree;
	tp_tree_free(tree);
	return NULL;
}

/* What the numbers can't tell, they don't; what they only estimate is said where they can't say it themselves. */
static int check_estimates(struct tp_session *session)
{
	enum tp_what what = session->options->what;

	if (what == TP_WHAT_CPU || !tp_run_estimated(session->run))
		return TP_EXIT_OK;
	if (what != TP_WHAT_TEMPORARY) {
		fputs("tprof-analyze: allocations were sampled: bytes and blocks are estimates\n", stderr);
		return TP_EXIT_OK;
	}
	fputs("tprof-analyze: --what temporary: not known of a run whose allocations were sampled\n", stderr);
	return tp_session_close(session, TP_EXIT_USAGE);
}

/* An empty answer looks like one of a program that allocates nothing. */
static void say_unknown(const struct tp_session *session)
{
	for (size_t i = 0; session->options->what != TP_WHAT_CPU && i < session->run->process_count; i++) {
		const struct tp_process *process = &session->run->processes[i];
		const char *why = tp_heap_unseen_in(session->run, process);

		if (why && tp_heap_unknown(process))
			fprintf(stderr, "tprof-analyze: %s: no allocation was recorded: %s\n", process->trace->file,
				why);
	}
}

static void make_title(const struct tp_session *session, const struct tp_tree *tree, char *title, size_t size)
{
	static const char *const words[] = {
		[TP_WHAT_PEAK] = "alive at the peak",
		[TP_WHAT_ALLOCATED] = "allocated in all",
		[TP_WHAT_UNFREED] = "",
		[TP_WHAT_TEMPORARY] = "of temporary allocations",
		[TP_WHAT_CPU] = "of CPU time",
	};
	const struct tp_process *process = &session->run->processes[0];
	const char *what = words[session->options->what];

	if (session->options->what == TP_WHAT_UNFREED)
		what = session->run->process_count == 1 ? tp_unfreed_phrase(process, session->options->to_ns)
							: "unfreed";
	snprintf(title, size, "%.100s: %s%s %s", tp_program_name(process->trace),
		 session->options->what != TP_WHAT_CPU && tp_run_estimated(session->run) ? "an estimated " : "",
		 session->options->what == TP_WHAT_CPU ? tp_time(tree->nodes[0].bytes).text
						       : tp_bytes(tree->nodes[0].bytes, false).text,
		 what);
}

int tp_tree_report(const struct tp_options *options,
		   void (*write)(const struct tp_tree *tree, const struct tp_session *session, const char *title))
{
	struct tp_suppressions *suppressions;
	struct tp_session session;
	struct tp_tree *tree;
	char title[300];
	int status = tp_session_open(&session, options);

	if (status != TP_EXIT_OK)
		return status;
	suppressions = tp_session_suppressions(&session);
	if (!suppressions)
		return tp_session_close(&session, TP_EXIT_USAGE);
	status = tp_session_replay(&session, TP_GROUP_STACK);
	if (status == TP_EXIT_OK)
		status = check_estimates(&session);
	if (status == TP_EXIT_OK) {
		say_unknown(&session);
		tree = tp_session_tree(&session, session.run->process_count, options->what, suppressions);
		if (tree) {
			make_title(&session, tree, title, sizeof(title));
			write(tree, &session, title);
		} else {
			tp_out_of_memory();
			status = TP_EXIT_TRACE;
		}
		tp_tree_free(tree);
		status = tp_session_close(&session, status);
	}
	tp_suppressions_free(suppressions);
	return status;
}
