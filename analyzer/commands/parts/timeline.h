/* SPDX-License-Identifier: Apache-2.0 */
/* Memory over time in JSON: of one process, or of a whole run. */
#ifndef TPROF_COMMANDS_PARTS_TIMELINE_H
#define TPROF_COMMANDS_PARTS_TIMELINE_H

#include <jansson.h>

#include "commands/input/session.h"

json_t *tpa_timeline_json(const struct tpa_session *session, size_t index);
json_t *tpa_timeline_combined_json(const struct tpa_session *session);

#endif
