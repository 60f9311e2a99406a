/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose profiles are pushed: its trace is followed, and nothing is written to it. Not thread-safe. */
#ifndef TPROF_COMMANDS_PUSH_PROCESS_H
#define TPROF_COMMANDS_PUSH_PROCESS_H

#include "commands/line/options.h"
#include "commands/push_queue.h"
#include "trace/trace.h"

struct tpa_push_process;

/* `options` must outlive the process. NULL after a line on stderr. */
struct tpa_push_process *tpa_push_process_open(const struct tpa_options *options, const char *file);
void tpa_push_process_close(struct tpa_push_process *process); /* NULL: does nothing */

const struct tpa_trace *tpa_push_process_trace(const struct tpa_push_process *process);

/* Reads what is new, and adds its profiles to the queue. False after a line on stderr: it can't be followed on. */
bool tpa_push_process_look(struct tpa_push_process *process, struct tpa_push_queue *queue);

#endif
