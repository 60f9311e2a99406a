/* SPDX-License-Identifier: Apache-2.0 */
/* How much of an op's time its threads waited, estimated from CPU samples: off the CPU, or spinning on it. */
#ifndef TPROF_REPORT_ROWS_OP_WAITS_H
#define TPROF_REPORT_ROWS_OP_WAITS_H

#include "model/result/result.h"
#include "symbols/symbols.h"

/* Sets `cpu`, `spinning` and `cpu_period_ns` of all ops of the process. */
void tpa_op_waits_find(struct tpa_process *process, struct tpa_symbols *symbols);

/* 95% interval of the time, in ns, that the op's samples in `cpu` stand for; at most the op's self time. */
struct tpa_interval tpa_op_cpu_interval(const struct tpa_op_stats *op, const struct tpa_cpu *cpu);

/*
 * The part of the op's self time that was spent off the CPU: blocked, asleep, or waiting for a processor. Sets *ns and its 95%
 * *interval. False: not known.
 */
bool tpa_op_not_running(const struct tpa_op_stats *op, uint64_t *ns, struct tpa_interval *interval);

#endif
