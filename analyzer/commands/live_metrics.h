/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tprof live knows, for Prometheus and its like: OpenMetrics text (version 1.0.0, openmetrics.io), served by HTTP at a port of
 * this machine alone, or in a file that is replaced at each look.
 */
#ifndef TPROF_COMMANDS_LIVE_METRICS_H
#define TPROF_COMMANDS_LIVE_METRICS_H

#include "commands/input/session.h"

struct tpa_metrics;

/* `where`: the number of a port, or a file's name. NULL after a line on stderr. */
struct tpa_metrics *tpa_metrics_open(const char *where);
void tpa_metrics_close(struct tpa_metrics *metrics);

/* Takes over what the session's run says of process 0, whose symbols are open. False after a line on stderr. */
bool tpa_metrics_update(struct tpa_metrics *metrics, struct tpa_session *session);

#endif
