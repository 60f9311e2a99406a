/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/push_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/input/session.h"
#include "commands/line/op_names.h"
#include "export/pushed.h"
#include "model/replay/follow.h"
#include "trace/related.h"

#define SECOND UINT64_C(1000000000)

struct tpa_push_process {
	struct tpa_options options; /* of this trace alone */
	char *file;
	const char *files[1];
	struct tpa_session session;
	struct tpa_follow follow;
	struct tpa_pushed *pushed;
	char *name;
	uint64_t told_ns; /* unix time up to which profiles went */
};

/* The application, with labels that tell its processes apart. */
static char *name_of(const struct tpa_trace *trace)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return tpa_format("%s{pid=%" PRIu32 ",host=%s}", tpa_started_name(trace->started, trace->exe),
			  trace->header->pid, host[0] ? host : "unknown");
}

struct tpa_push_process *tpa_push_process_open(const struct tpa_options *options, const char *file)
{
	struct tpa_push_process *process = tpa_zalloc(1, sizeof(*process));
	struct tpa_replay_options replay;

	process->file = tpa_strdup(file);
	process->files[0] = process->file;
	process->options = *options;
	process->options.traces = process->files;
	process->options.trace_count = 1;
	process->options.output = NULL;
	if (tpa_session_open(&process->session, &process->options) != TPA_EXIT_OK) {
		free(process->file);
		free(process);
		return NULL;
	}
	replay = tpa_session_replay_options(&process->session, TPA_GROUP_STACK);
	process->name = name_of(process->session.traces[0]);
	process->pushed = tpa_pushed_new();
	tpa_follow_begin(&process->follow, process->session.traces[0], &replay);
	return process;
}

void tpa_push_process_close(struct tpa_push_process *process)
{
	if (!process)
		return;
	tpa_follow_end(&process->follow);
	tpa_pushed_free(process->pushed);
	tpa_session_close(&process->session, TPA_EXIT_OK);
	free(process->name);
	free(process->file);
	free(process);
}

const struct tpa_trace *tpa_push_process_trace(const struct tpa_push_process *process)
{
	return process->session.traces[0];
}

static struct tpa_export export_of(struct tpa_push_process *process, FILE *out)
{
	return (struct tpa_export){
		.out = out,
		.traces = process->session.traces,
		.trace_count = 1,
		.run = process->session.run,
		.names = { .debug_dir = process->options.debug_dir,
			   .language = process->options.language,
			   .interpreter = process->options.interpreter },
	};
}

static void add_profile(struct tpa_push_process *process, struct tpa_push_queue *queue, enum tpa_pushed_kind kind,
			uint64_t to_ns)
{
	char *bytes = NULL;
	size_t size = 0, samples = 0;
	FILE *memory = open_memstream(&bytes, &size);
	struct tpa_export export = export_of(process, memory);
	bool good;

	tpa_need(memory != NULL);
	good = tpa_pushed_write(process->pushed, &export, kind, process->told_ns, to_ns, &samples);
	tpa_export_close(&export);
	tpa_need(fclose(memory) == 0 && good);
	if (samples)
		tpa_push_add(queue, process->name, bytes, size, process->told_ns / SECOND,
			     (to_ns + SECOND - 1) / SECOND);
	else
		free(bytes);
}

bool tpa_push_process_look(struct tpa_push_process *process, struct tpa_push_queue *queue)
{
	struct tpa_session *session = &process->session;
	struct tpa_run *run;
	char *error = NULL;
	uint64_t now;

	tpa_session_drop_run(session);
	run = tpa_follow_look(&process->follow, &error);
	if (!run) {
		fprintf(stderr, "tprof-analyze: %s\n", error);
		free(error);
		return false;
	}
	tpa_op_names(session->traces[0], process->options.debug_dir);
	tpa_session_take_run(session, run);
	now = run->start_unix_ns + run->duration_ns;
	if (!process->told_ns)
		process->told_ns = run->start_unix_ns;
	if (now < process->told_ns)
		now = process->told_ns;
	for (int kind = 0; kind < TPA_PUSHED_KINDS; kind++)
		add_profile(process, queue, (enum tpa_pushed_kind)kind, now);
	process->told_ns = now;
	return true;
}
