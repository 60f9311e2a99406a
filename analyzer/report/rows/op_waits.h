/* SPDX-License-Identifier: Apache-2.0 */
/* Which of an op's time its threads waited, as CPU samples tell: without a processor, or on one, going round in a loop. */
#ifndef TPROF_REPORT_ROWS_OP_WAITS_H
#define TPROF_REPORT_ROWS_OP_WAITS_H

#include "model/result/result.h"
#include "symbols/symbols.h"

/* Sets the ops' cpu, spinning and cpu_period_ns. */
void tpa_op_waits_find(struct tpa_process *process, struct tpa_symbols *symbols);

/* The time that such samples of the op stand for, at most its self time. */
struct tpa_interval tpa_op_cpu_interval(const struct tpa_op_stats *op, const struct tpa_cpu *cpu);

/* Of the op's self time, on no processor: blocked, asleep, or waiting for one. False: not known. */
bool tpa_op_not_running(const struct tpa_op_stats *op, uint64_t *ns, struct tpa_interval *interval);

#endif
