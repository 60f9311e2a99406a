/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/process/parts.h"

#include "core/batch.h"
#include "core/counters.h"
#include "core/output.h"
#include "core/process.h"
#include "core/regions.h"
#include "core/spill.h"
#include "core/state.h"
#include "core/tables.h"
#include "hooks/gate/allocator.h"
#include "hooks/gate/paused_frees.h"
#include "hooks/link/loader.h"
#include "hooks/memory/jemalloc.h"
#include "hooks/memory/reached.h"
#include "hooks/ops/entry.h"
#include "hooks/ops/install.h"
#include "hooks/ops/names.h"
#include "hooks/ops/presets/presets.h"
#include "hooks/ops/shapes.h"
#include "hooks/ops/stubs.h"
#include "hooks/ops/told/annotate.h"
#include "hooks/process/find_python.h"
#include "hooks/process/thread_end.h"
#include "hooks/python/codes.h"
#include "hooks/sampling/cpu.h"
#include "stacks/frames.h"
#include "stacks/modules.h"
#include "stacks/nodes.h"

/* The parent's header is unmapped: what follows is counted in no trace. */
static void forget_header(void)
{
	if (tp_header)
		tp_header_area_clear();
	tp_header = NULL;
}

/*
 * The order is the order of the floors, from the lowest up, with these constraints:
 * - forget: none, the rows do not depend on one another.
 * - restart: the hooks are described ("coverage") before the first CPU sample can come ("cpu").
 * - start: forks are watched first. CPU sampling starts before the slow parts, so that their time is sampled, too.
 * - end: spilled chunks are written to the file before its unused end is given back ("batch").
 */
const struct tp_lifecycle_part tp_parts[TP_PARTS] = {
	{ .name = "loader", .start = tp_loader_watch_forks },
	{ .name = "output", .forget = tp_output_forget },
	{ .name = "memory", .forget = tp_memory_forget, .open = tp_memory_open },
	{ .name = "regions", .forget = tp_regions_forget },
	{ .name = "spill", .forget = tp_spill_forget, .end = tp_spill_end },
	{ .name = "batch", .forget = tp_batch_forget, .end = tp_batch_end },
	{ .name = "header", .forget = forget_header },
	{ .name = "tables", .forget = tp_tables_forget },
	{ .name = "nodes", .forget = tp_nodes_forget },
	{ .name = "frames", .forget = tp_frames_forget },
	{ .name = "modules", .forget = tp_modules_forget },
	{ .name = "coverage", .restart = tp_ops_tell },
	{ .name = "cpu",
	  .start = tp_cpu_start,
	  .forget = tp_cpu_forget,
	  .restart = tp_cpu_start,
	  .attach = tp_cpu_attach },
	{ .name = "counters",
	  .start = tp_counters_start,
	  .forget = tp_counters_forget,
	  .restart = tp_counters_start,
	  .attach = tp_counters_attach },
	{ .name = "malloc", .start = tp_malloc_check },
	{ .name = "allocator", .start = tp_allocator_find },
	{ .name = "jemalloc", .start = tp_jemalloc_hook },
	{ .name = "paused frees", .pause = tp_paused_free_clear },
	{ .name = "op names", .forget = tp_ops_forget },
	{ .name = "op stubs", .start = tp_ops_install, .forget = tp_op_calls_forget, .resume = tp_ops_resumed },
	{ .name = "shapes", .forget = tp_shapes_forget },
	{ .name = "annotations", .forget = tp_annotate_forget },
	{ .name = "function ops", .forget = tp_entry_forget },
	{ .name = "oneDNN", .forget = tp_onednn_forget },
	{ .name = "ends of threads", .start = tp_ops_watch_ends, .attach = tp_ops_watch_end },
	{ .name = "code objects", .forget = tp_codes_forget },
	{ .name = "Python", .start = tp_python_find, .forget = tp_python_forget, .open = tp_python_describe },
};
