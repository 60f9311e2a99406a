/* SPDX-License-Identifier: Apache-2.0 */
#include "base/aside.h"
#include "trace/records.h"

/* Lists with room keep it: they may grow again. */
void tpa_trace_lay_aside(struct tpa_trace *trace)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);
	struct tpa_tables *tables = impl->records;
	struct tpa_made *made = &impl->made;
	struct tpa_children *children = &made->children;

	tpa_lay_aside(&trace->frames, made->frame_room * sizeof(*trace->frames));
	tpa_lay_aside(&trace->nodes, made->node_room * sizeof(*trace->nodes));
	tpa_lay_aside(&made->origin, made->origin_room * sizeof(*made->origin));
	tpa_lay_aside(&made->of_frame, made->of_frame_room * sizeof(*made->of_frame));
	tpa_lay_aside(&made->of_node, made->of_node_room * sizeof(*made->of_node));
	tpa_lay_aside(&children->only, children->only_room * sizeof(*children->only));
	if (children->table)
		tpa_lay_aside(&children->table, ((size_t)1 << children->bits) * sizeof(*children->table));
	tpa_lay_aside(&made->joins.first, made->joins.room * sizeof(*made->joins.first));
	tpa_pairs_lay_aside(&made->joins.further);
	tpa_pairs_lay_aside(&made->frames);
	if (!tables)
		return;
	tpa_lay_aside(&tables->frames, tables->frame_room * sizeof(*tables->frames));
	tpa_lay_aside(&tables->nodes, tables->node_room * sizeof(*tables->nodes));
}
