/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/tree_report.h"

#include <inttypes.h>
#include <unistd.h>

#include "commands/parts/site_report.h"
#include "report/text/coverage.h"
#include "report/text/numbers.h"
#include "report/text/process_listing.h"

/* Adds a first level for the process if there are `several`. */
static void add_process(struct tpa_session *session, size_t index, struct tpa_tree *tree,
			const struct tpa_tree_options *options, bool several)
{
	const struct tpa_process *process = &session->run->processes[index];
	struct tpa_symbols *symbols = tpa_session_symbols(session, index);
	struct tpa_tree_options mine = *options;
	char label[300];

	snprintf(label, sizeof(label), "%.200s (pid %" PRIu32 ")", tpa_program_name(process->trace),
		 process->trace->header->pid);
	mine.label = several ? label : NULL;
	tpa_tree_add(tree, process, symbols, &mine);
}

/* Applies only the user's suppressions, except to unfreed memory, for which the built-in ones were written. */
struct tpa_tree *tpa_session_tree(struct tpa_session *session, size_t process, enum tpa_what what,
				  struct tpa_suppressions *suppressions)
{
	const struct tpa_options *options = session->options;
	struct tpa_tree_options tree_options = { .what = what };
	bool all = process == session->run->process_count;
	size_t first = all ? 0 : process, last = all ? process : process + 1;
	struct tpa_tree *tree = tpa_tree_new();

	tree_options.filter = session->filter;
	if (what == TPA_WHAT_UNFREED || options->suppression_count)
		tree_options.suppressions = suppressions;
	for (size_t i = first; i < last; i++)
		add_process(session, i, tree, &tree_options, last - first > 1);
	tpa_tree_finish(tree);
	return tree;
}

/* Rejects numbers that a sampled run can't give, and warns of estimates, as the output format can't mark them. */
static int check_estimates(struct tpa_session *session)
{
	enum tpa_what what = session->options->what;

	if (what == TPA_WHAT_CPU || !tpa_run_estimated(session->run))
		return TPA_EXIT_OK;
	if (what != TPA_WHAT_TEMPORARY) {
		fputs("tprof-analyze: allocations were sampled: bytes and blocks are estimates\n", stderr);
		return TPA_EXIT_OK;
	}
	fputs("tprof-analyze: --what temporary: not known of a run whose allocations were sampled\n", stderr);
	return tpa_session_close(session, TPA_EXIT_USAGE);
}

/* An empty answer would look like that of a program without allocations. */
static void say_unknown(const struct tpa_session *session)
{
	for (size_t i = 0; session->options->what != TPA_WHAT_CPU && i < session->run->process_count; i++) {
		const struct tpa_process *process = &session->run->processes[i];
		const char *why = tpa_heap_unseen_in(session->run, process);

		if (why && tpa_heap_unknown(process))
			fprintf(stderr, "tprof-analyze: %s: no allocation was recorded: %s\n", process->trace->file,
				why);
	}
}

static void make_title(const struct tpa_session *session, const struct tpa_tree *tree, char *title, size_t size)
{
	static const char *const words[] = {
		[TPA_WHAT_PEAK] = "alive at the peak",
		[TPA_WHAT_ALLOCATED] = "allocated in all",
		[TPA_WHAT_UNFREED] = "",
		[TPA_WHAT_TEMPORARY] = "of temporary allocations",
		[TPA_WHAT_CPU] = "of CPU time",
	};
	const struct tpa_process *process = &session->run->processes[0];
	const char *what = words[session->options->what];

	if (session->options->what == TPA_WHAT_UNFREED)
		what = session->run->process_count == 1 ? tpa_unfreed_phrase(process, session->options->to_ns)
							: "unfreed";
	snprintf(title, size, "%.100s: %s%s %s", tpa_program_name(process->trace),
		 session->options->what != TPA_WHAT_CPU && tpa_run_estimated(session->run) ? "an estimated " : "",
		 session->options->what == TPA_WHAT_CPU ? tpa_time(tree->nodes[0].bytes).text
							: tpa_bytes(tree->nodes[0].bytes, false).text,
		 what);
}

int tpa_tree_report(const struct tpa_options *options,
		    void (*write)(const struct tpa_tree *tree, const struct tpa_session *session, const char *title))
{
	struct tpa_suppressions *suppressions;
	struct tpa_session session;
	struct tpa_tree *tree;
	char title[300];
	int status = tpa_session_start(&session, options, TPA_GROUP_STACK);

	if (status == TPA_EXIT_OK)
		status = check_estimates(&session);
	if (status != TPA_EXIT_OK)
		return status;
	say_unknown(&session);
	suppressions = tpa_session_suppressions(&session);
	tree = tpa_session_tree(&session, session.run->process_count, options->what, suppressions);
	make_title(&session, tree, title, sizeof(title));
	write(tree, &session, title);
	tpa_tree_free(tree);
	tpa_suppressions_free(suppressions);
	return tpa_session_close(&session, status);
}
