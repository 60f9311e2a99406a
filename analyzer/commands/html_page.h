/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_COMMANDS_HTML_PAGE_H
#define TPROF_COMMANDS_HTML_PAGE_H

#include "commands/html_views.h"
#include "commands/input/session.h"
#include "machine/machine.h"

/*
 * Writes the report of a replayed session with open symbols to its page. `machine` may be NULL.
 */
void tpa_html_page(struct tpa_session *session, const struct tpa_machine *machine,
		   const struct tpa_html_baseline *baseline);

#endif
