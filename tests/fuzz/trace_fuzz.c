/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes are opened as a trace, replayed, and all that a report would look at is looked at. A
 * finding is a crash, a sanitizer's complaint, a time-out or too much memory.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <stdio.h>
#include <unistd.h>

#include "model/replay/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum; /* so that nothing is optimised away */

static void look_at_trace(const struct tpa_trace *trace)
{
	uint32_t frames[64], end;
	size_t i, k;

	for (i = 0; i < trace->recorded_nodes + 100 && i < 4096; i++) {
		uint32_t node = tpa_trace_node(trace, (uint32_t)i);
		size_t depth = tpa_trace_stack(trace, node, frames, 64, &end);

		if (node >= trace->node_count || tpa_trace_node(trace, tpa_trace_file_node(trace, node)) != node)
			abort();

		for (k = 0; k < depth && k < 64; k++) {
			const struct tpa_frame *frame = &trace->frames[frames[k]];

			if (frames[k] >= trace->frame_count)
				abort();
			sum += frame->pc + (frame->module ? (uint8_t)frame->module->path[0] : 0);
		}
	}
	for (i = 0; i < trace->arg_count; i++)
		sum += (uint8_t)trace->args[i][0];
	for (i = 0; i < trace->module_count; i++)
		for (k = 0; k < trace->modules[i].build_id_length; k++)
			sum += trace->modules[i].build_id[k];
}

static void look_at_ops(const struct tpa_process *process)
{
	size_t i, k;

	for (i = 0; i < process->op_count; i++) {
		const struct tpa_op_stats *op = &process->ops[i];

		sum += (uint8_t)op->name[0] + (uint8_t)op->category[0];
		if (op->durations.count > op->calls || op->p50_ns > op->p99_ns)
			abort();
		for (k = 0; k < op->shape_count; k++)
			sum += op->shapes[k].text ? (uint8_t)op->shapes[k].text[0] : 0;
	}
	for (i = 0; i < process->site_count; i++) {
		const char *name = tpa_process_op_name(process, process->sites[i].op);

		sum += name ? (uint8_t)name[0] : 0;
	}
	for (i = 1; i < process->steps.list_count; i++)
		if (process->steps.list[i].first <= process->steps.list[i - 1].first)
			abort();
}

static void look_at_run(const struct tpa_run *run)
{
	const struct tpa_process *process = run->processes;
	uint64_t live = 0, peak = 0;
	size_t i;

	for (i = 0; i < process->site_count; i++) {
		live += process->sites[i].live_bytes;
		peak += process->sites[i].peak_bytes;
	}
	/* Whatever the bytes say, the sums agree; of estimates each is rounded for itself. */
	if (!process->estimated && (live != process->heap.end_bytes || peak != process->heap.peak_bytes))
		abort();
	look_at_ops(process);
	for (i = 1; i < process->point_count; i++)
		if (process->timeline[i].time_ns < process->timeline[i - 1].time_ns)
			abort();
}

static void replay(struct tpa_trace *trace, const struct tpa_replay_options *options)
{
	struct tpa_run *run = tpa_run_replay(&trace, 1, options);

	if (run)
		look_at_run(run);
	tpa_run_free(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tpa_replay_options window = {
		.group = TPA_GROUP_SIZE, .from_ns = 500, .to_ns = 5000, .timeline_points = 8
	};
	int fd = memfd_create("trace", 0);
	struct tpa_trace *trace;
	char name[32], *error = NULL;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	trace = tpa_trace_open(name, &error);
	close(fd);
	if (trace) {
		look_at_trace(trace);
		replay(trace, NULL);
		replay(trace, &window);
	} else if (!error) {
		abort();
	}
	free(error);
	tpa_trace_close(trace);
	return 0;
}
