/* SPDX-License-Identifier: Apache-2.0 */
/* live: follows a program that runs, on a screen, in lines, or once. The program's file is read, and nothing is written to it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/now.h"
#include "commands/ctl.h"
#include "commands/live_metrics.h"
#include "commands/live_view.h"
#include "commands/line/op_names.h"
#include "commands/line/running.h"
#include "commands/summary.h"
#include "model/replay/follow.h"
#include "report/json/json.h"
#include "report/json/json_writer.h"
#include "report/text/safe_stream.h"
#include "report/text/screen.h"
#include "trace/control.h"

#define INTERVAL UINT64_C(1000000000) /* ns between two looks, by default */
#define SHARE 20    /* looks take at most 1/SHARE of a processor: they become rarer if they take long */
#define KEY_WAIT 50 /* ms */

#define KEYS                                                                                                           \
	"1-5 view, enter stacks, q quit, space freeze, s sort, n frames, m mark, h holders" /* the end is cut in 80 columns */

struct live {
	struct tpa_session session;
	struct tpa_options options; /* a copy: keys change it */
	struct tpa_follow follow;
	struct tpa_live_counts counts;
	struct tpa_live_rates rates;
	struct tpa_metrics *metrics; /* of --openmetrics; NULL: not wanted */
	uint64_t began_ns;	     /* CPU time when the last look began */
	uint64_t next_ns;	     /* when to look again */
	enum tpa_view view;
	size_t first; /* line at the top of the screen */
	bool frozen;
	char *error;	/* why the trace can't be followed on; printed when the screen is gone */
	char said[200]; /* what was asked of the program, and its answer */
};

/* ---- looks ---- */

static bool look(struct live *live)
{
	struct tpa_run *run;

	live->began_ns = tpa_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	tpa_session_drop_run(&live->session);
	run = tpa_follow_look(&live->follow, &live->error);
	if (!run)
		return false;
	tpa_op_names(live->session.traces[0], live->options.debug_dir);
	tpa_session_take_run(&live->session, run);
	tpa_session_open_symbols(&live->session);
	live->rates = tpa_rates_since(&live->counts, &run->processes[0]);
	return !live->metrics || tpa_metrics_update(live->metrics, &live->session);
}

/* Sets the time of the next look by the CPU time that the last one took, with what was printed of it. */
static void plan_next(struct live *live)
{
	uint64_t cost = tpa_now_ns(CLOCK_PROCESS_CPUTIME_ID) - live->began_ns, interval = live->options.interval_ns;

	interval = interval ? interval : INTERVAL;
	if (interval < SHARE * cost)
		interval = SHARE * cost;
	live->next_ns = tpa_now_ns(CLOCK_MONOTONIC) + interval;
}

static bool runs(const struct live *live)
{
	return live->session.traces[0]->running;
}

static void sleep_until(uint64_t ns)
{
	struct timespec at = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* ---- once, and in lines ---- */

static int print_once(struct live *live)
{
	struct tpa_session *session = &live->session;
	json_t *json;

	if (runs(live)) {
		plan_next(live);
		sleep_until(live->next_ns);
		if (!look(live))
			return TPA_EXIT_TRACE;
	}
	if (!live->options.json) {
		tpa_view_print(session, TPA_VIEW_OVERVIEW, &live->rates, live->options.sort);
		return TPA_EXIT_OK;
	}
	json = tpa_summary_json(session, 0, NULL);
	json_object_set_new(json, "schema", json_string("tprof/1"));
	tpa_json_set(json, "live", tpa_view_json(&session->run->processes[0], &live->rates));
	tpa_json_write(json, session->page.out);
	return TPA_EXIT_OK;
}

static int print_lines(struct live *live)
{
	while (true) {
		tpa_view_line_print(&live->session, &live->rates);
		if (!runs(live) || ferror(live->session.page.out))
			return TPA_EXIT_OK;
		plan_next(live);
		sleep_until(live->next_ns);
		if (!look(live))
			return TPA_EXIT_TRACE;
	}
}

/* ---- the screen ---- */

/* The view's text, to be freed. Replaces control characters in names. */
static char *page_text(struct live *live)
{
	struct tpa_page *page = &live->session.page, before = *page;
	size_t size;
	char *text = NULL;
	FILE *memory = open_memstream(&text, &size);

	tpa_need(memory != NULL);
	page->color = true;
	page->width = tpa_screen_width();
	page->out = tpa_plain_open(memory, true);
	tpa_view_print(&live->session, live->view, &live->rates, live->options.sort);
	fclose(page->out);
	*page = before;
	return text;
}

static void show(struct live *live)
{
	char *text = page_text(live), footer[400];

	snprintf(footer, sizeof(footer), "%s%s | %s", tpa_view_name(live->view),
		 live->frozen ? ", frozen"
		 : runs(live) ? ""
			      : ", ended",
		 live->said[0] ? live->said : KEYS);
	live->first = tpa_screen_show(text, live->first, footer);
	free(text);
}

/* Does what tprof ctl does, in a child, as it prints what it has to say. */
static void ask(struct live *live, char **words, int count)
{
	int ends[2];
	pid_t child;
	ssize_t got;

	live->said[0] = 0;
	if (pipe(ends))
		return;
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		tpa_ctl(count, words);
		fflush(stdout);
		_exit(0);
	}
	close(ends[1]);
	got = read(ends[0], live->said, sizeof(live->said) - 1);
	live->said[got > 0 ? got : 0] = 0;
	live->said[strcspn(live->said, "\n")] = 0;
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void ask_mark(struct live *live, char *pid)
{
	char text[TPROF_CONTROL_TEXT];

	if (tpa_screen_ask("mark: ", text, sizeof(text)))
		ask(live, (char *[]){ "ctl", pid, "mark", text, NULL }, 4);
}

static void ask_holders(struct live *live, char *pid)
{
	snprintf(live->said, sizeof(live->said), "searching for what holds the blocks ...");
	show(live);
	ask(live, (char *[]){ "ctl", pid, "holders", NULL }, 3);
}

/* The next of the keys that --sort takes. */
static void next_sort(struct live *live)
{
	static const char *const keys[] = { "self", "total", "calls", "mean", "p99", "alloc" };
	size_t count = sizeof(keys) / sizeof(*keys);

	for (size_t i = 0; i < count; i++)
		if (strcmp(keys[i], live->options.sort) == 0) {
			live->options.sort = keys[(i + 1) % count];
			break;
		}
	snprintf(live->said, sizeof(live->said), "ops by %s", live->options.sort);
}

static void next_language(struct live *live)
{
	static const char *const names[] = { "mixed", "Python's, where there are any", "native" };

	live->options.language = (live->options.language + 1) % 3;
	snprintf(live->said, sizeof(live->said), "frames: %s", names[live->options.language]);
	live->next_ns = 0;
}

/* The view of leaks has stacks itself. */
static void open_stacks(struct live *live)
{
	if (live->view == TPA_VIEW_OVERVIEW)
		live->view = TPA_VIEW_LEAKS;
	else if (live->view == TPA_VIEW_MEMORY)
		live->view = TPA_VIEW_STACKS;
	else if (live->view == TPA_VIEW_STACKS)
		live->view = TPA_VIEW_MEMORY;
	live->first = 0;
}

static void scroll(struct live *live, int key)
{
	size_t page = (size_t)tpa_screen_height();

	if (key == TPA_SCREEN_DOWN)
		live->first++;
	else if (key == TPA_SCREEN_UP)
		live->first -= live->first > 0;
	else if (key == TPA_SCREEN_PAGE_DOWN)
		live->first += page;
	else if (key == TPA_SCREEN_PAGE_UP)
		live->first -= live->first < page ? live->first : page;
	else
		live->first = key == TPA_SCREEN_HOME ? 0 : SIZE_MAX;
}

/* False: the user wants to leave. */
static bool obey(struct live *live, int key)
{
	char pid[20];

	snprintf(pid, sizeof(pid), "%" PRIu32, live->session.traces[0]->header->pid);
	if (key == 'q' || key == 'Q')
		return false;
	if (key != TPA_SCREEN_NONE)
		live->said[0] = 0;
	if (key > TPA_SCREEN_NONE)
		scroll(live, key);
	else if (key >= '1' && key < '1' + TPA_VIEWS)
		live->view = (enum tpa_view)(key - '1');
	else if (key == '\t')
		live->view = (live->view + 1) % TPA_VIEWS;
	else if (key == '\r' || key == '\n')
		open_stacks(live);
	else if (key == ' ')
		live->frozen = !live->frozen;
	else if (key == 's')
		next_sort(live);
	else if (key == 'n')
		next_language(live);
	else if (key == 'm' && runs(live))
		ask_mark(live, pid);
	else if (key == 'h' && runs(live))
		ask_holders(live, pid);
	if ((key >= '1' && key < '1' + TPA_VIEWS) || key == '\t')
		live->first = 0;
	return true;
}

/* Other frames are wanted at once, also on a frozen screen. */
static bool is_due(const struct live *live)
{
	return !live->next_ns || (!live->frozen && runs(live) && tpa_now_ns(CLOCK_MONOTONIC) >= live->next_ns);
}

static int run_screen(struct live *live)
{
	bool good = true, looked;
	int key = TPA_SCREEN_NONE;

	tpa_screen_show("", 0, "reading the trace ...");
	while (good && obey(live, key)) {
		looked = is_due(live);
		if (looked)
			good = look(live);
		if (good)
			show(live);
		if (looked)
			plan_next(live);
		do
			key = tpa_screen_key(KEY_WAIT);
		while (good && key == TPA_SCREEN_NONE && !is_due(live));
	}
	tpa_screen_close();
	return good ? TPA_EXIT_OK : TPA_EXIT_TRACE;
}

/* ---- the command ---- */

static int follow(struct live *live)
{
	const struct tpa_replay_options replay = tpa_session_replay_options(&live->session, TPA_GROUP_STACK);
	int status = TPA_EXIT_TRACE;

	if (live->options.openmetrics) {
		live->metrics = tpa_metrics_open(live->options.openmetrics);
		if (!live->metrics)
			return TPA_EXIT_USAGE;
	}
	tpa_follow_begin(&live->follow, live->session.traces[0], &replay);
	if (!live->options.once && !live->options.output && tpa_screen_open())
		status = run_screen(live);
	else if (look(live))
		status = live->options.once ? print_once(live) : print_lines(live);
	if (live->error)
		fprintf(stderr, "tprof-analyze: %s\n", live->error);
	free(live->error);
	tpa_follow_end(&live->follow);
	tpa_metrics_close(live->metrics);
	return status;
}

int tpa_cmd_live(const struct tpa_options *options)
{
	struct live live = { .options = *options };
	const char *names[1];
	char *trace;
	int status;

	if (options->trace_count != 1) {
		fputs("tprof-analyze: live follows one process: live PID, or live TRACE\n", stderr);
		return TPA_EXIT_USAGE;
	}
	trace = tpa_running_trace(options->traces[0]);
	if (!trace)
		return TPA_EXIT_TRACE;
	names[0] = trace;
	live.options.traces = names;
	live.options.once |= options->json; /* one document */
	status = tpa_session_open(&live.session, &live.options);
	if (status == TPA_EXIT_OK)
		status = tpa_session_close(&live.session, follow(&live));
	free(trace);
	return status;
}
