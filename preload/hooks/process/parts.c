/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/process/parts.h"

#include "core/batch.h"
#include "core/counters.h"
#include "core/output.h"
#include "core/process.h"
#include "core/regions.h"
#include "core/budget.h"
#include "core/ring.h"
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
#include "hooks/ops/presets/c10d.h"
#include "hooks/ops/presets/comm.h"
#include "hooks/ops/presets/presets.h"
#include "hooks/ops/shapes.h"
#include "hooks/ops/stubs.h"
#include "hooks/ops/told/annotate.h"
#include "hooks/process/find_python.h"
#include "hooks/process/forks.h"
#include "hooks/process/thread_end.h"
#include "hooks/python/codes.h"
#include "hooks/sampling/cpu.h"
#include "stacks/frames.h"
#include "stacks/modules.h"
#include "stacks/nodes.h"

/* Unmaps the parent's header: until there is a new one, events are counted in no trace. */
static void forget_header(void)
{
	if (tpc_header)
		tpc_header_area_clear();
	tpc_header = NULL;
}

/*
 * The order is the order of the floors, from the lowest up, with these constraints:
 * - forget: none, the rows do not depend on one another.
 * - restart: the hooks are described ("coverage") before the first CPU sample can come ("cpu").
 * - start: forks are watched first. CPU sampling starts before the slow parts, so that their time is sampled, too.
 * - open: the ring is there before anything is written to it.
 * - end: spilled chunks are written to the file before its unused end is given back ("batch").
 */
const struct tpc_lifecycle_part tpc_parts[TPC_PARTS] = {
	{ .name = "loader", .start = tpc_loader_watch_forks },
	{ .name = "output", .forget = tpc_output_forget },
	{ .name = "memory", .forget = tpc_memory_forget, .open = tpc_memory_open },
	{ .name = "regions", .forget = tpc_regions_forget },
	{ .name = "spill", .forget = tpc_spill_forget, .end = tpc_spill_end },
	{ .name = "batch", .forget = tpc_batch_forget, .end = tpc_batch_end },
	{ .name = "ring", .forget = tpc_ring_forget, .open = tpc_ring_open },
	{ .name = "header", .forget = forget_header },
	{ .name = "budget", .open = tpc_budget_open },
	{ .name = "tables", .forget = tpc_tables_forget },
	{ .name = "nodes", .forget = tpc_nodes_forget },
	{ .name = "frames", .forget = tpc_frames_forget },
	{ .name = "modules", .forget = tpc_modules_forget },
	{ .name = "coverage", .restart = tpc_ops_tell },
	{ .name = "cpu",
	  .start = tpc_cpu_start,
	  .forget = tpc_cpu_forget,
	  .restart = tpc_cpu_start,
	  .attach = tpc_cpu_attach },
	{ .name = "counters",
	  .start = tpc_counters_start,
	  .forget = tpc_counters_forget,
	  .restart = tpc_counters_start,
	  .attach = tpc_counters_attach },
	{ .name = "malloc", .start = tpc_malloc_check },
	{ .name = "allocator", .start = tpc_allocator_find },
	{ .name = "jemalloc", .start = tpc_jemalloc_hook },
	{ .name = "paused frees", .pause = tpc_paused_free_clear },
	{ .name = "op names", .forget = tpc_ops_forget },
	{ .name = "op stubs", .start = tpc_ops_install, .forget = tpc_op_calls_forget, .resume = tpc_ops_resumed },
	{ .name = "shapes", .forget = tpc_shapes_forget },
	{ .name = "annotations", .forget = tpc_annotate_forget },
	{ .name = "function ops", .forget = tpc_entry_forget },
	{ .name = "oneDNN", .forget = tpc_onednn_forget },
	{ .name = "groups and requests", .forget = tpc_comm_forget },
	{ .name = "torch.distributed", .forget = tpc_c10d_forget },
	{ .name = "ends of threads", .start = tpc_ops_watch_ends, .attach = tpc_ops_watch_end },
	{ .name = "forks", .start = tpc_forks_watch },
	{ .name = "code objects", .forget = tpc_codes_forget },
	{ .name = "Python", .start = tpc_python_find, .forget = tpc_python_forget, .open = tpc_python_describe },
};
