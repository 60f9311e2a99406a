/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap profile of gperftools (HEAPPROFILE, or a sample of tcmalloc's heap), in its form of text: what was in use when it was dumped,
 * and what had been allocated until then, by stack. The trace has a block for each of these; only the mean of their sizes is known.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tprof/format.h>

#include "base/memory.h"
#include "import/mapped_files.h"
#include "import/source.h"

#define BLOCKS_FROM (UINT64_C(1) << 32) /* addresses */
#define FREED_MOST (UINT64_C(1) << 23)	/* blocks that were freed; more are left out */
#define USED_MOST (UINT64_C(1) << 28)	/* blocks in use */
#define BYTES_MOST (UINT64_C(1) << 46)

struct amount {
	uint64_t blocks, bytes;
};

struct entry {
	struct amount used, freed;
	size_t stack, depth; /* in `addresses` */
};

struct profile {
	struct tpa_source *source;
	struct entry *entries;
	size_t entry_count, entry_room;
	uint64_t *addresses; /* of all stacks, innermost first */
	size_t address_count, address_room;
	struct amount used, freed; /* in all */
	struct tpa_mapped_files maps;
	bool sampled;
};

/* "BLOCKS: BYTES" */
static bool read_amount(char **at, struct amount *amount)
{
	return tpa_read_decimal(at, ":", &amount->blocks) && tpa_read_text(at, ":") &&
	       tpa_read_decimal(at, "]", &amount->bytes) && amount->blocks <= BYTES_MOST && amount->bytes <= BYTES_MOST;
}

/* "BLOCKS: BYTES [BLOCKS: BYTES] @": in use, and allocated. */
static bool read_amounts(char **at, struct amount *used, struct amount *all)
{
	if (!read_amount(at, used))
		return false;
	*at += strspn(*at, " ");
	if (!tpa_read_text(at, "[") || !read_amount(at, all))
		return false;
	*at += strspn(*at, " ");
	if (!tpa_read_text(at, "]"))
		return false;
	*at += strspn(*at, " ");
	return tpa_read_text(at, "@");
}

static bool read_head(struct profile *profile)
{
	char *at = tpa_lines_next(profile->source->lines);
	struct amount used, all;

	if (!at)
		return false;
	if (!tpa_read_text(&at, "heap profile:") || !read_amounts(&at, &used, &all))
		return tpa_source_wrong(profile->source,
					"'heap profile: BLOCKS: BYTES [BLOCKS: BYTES] @ KIND' is wanted");
	at += strspn(at, " ");
	if (strcmp(at, "heapprofile") == 0)
		return true;
	if (!tpa_read_text(&at, "heap_v2/") || !tpa_read_decimal(&at, "", &profile->source->sample_bytes) ||
	    !profile->source->sample_bytes)
		return tpa_source_wrong(profile->source, "a profile of another kind; 'heapprofile' and "
							 "'heap_v2/BYTES' can be imported");
	profile->sampled = true;
	return true;
}

static bool read_stack(struct profile *profile, char *at, struct entry *entry)
{
	uint64_t address;

	entry->stack = profile->address_count;
	for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
		if (!tpa_read_text(&at, "0x") || !tpa_read_hex(&at, &address))
			return false;
		*TPA_APPEND(profile->addresses, profile->address_count, profile->address_room) = address;
	}
	entry->depth = profile->address_count - entry->stack;
	return true;
}

static bool read_entry(struct profile *profile, char *line)
{
	struct entry entry = { 0 };
	struct amount all;
	char *at = line;

	if (!read_amounts(&at, &entry.used, &all) || !read_stack(profile, at, &entry))
		return tpa_source_wrong(profile->source, "'BLOCKS: BYTES [BLOCKS: BYTES] @ 0xADDRESS...' is wanted");
	if (all.blocks < entry.used.blocks || all.bytes < entry.used.bytes)
		return tpa_source_wrong(profile->source, "more is in use than was allocated");
	entry.freed.blocks = all.blocks - entry.used.blocks;
	entry.freed.bytes = all.bytes - entry.used.bytes;
	profile->used.blocks += entry.used.blocks;
	profile->freed.blocks += entry.freed.blocks;
	if (profile->used.blocks > USED_MOST)
		return tpa_source_wrong(profile->source, "more than %" PRIu64 " blocks are in use", USED_MOST);
	*TPA_APPEND(profile->entries, profile->entry_count, profile->entry_room) = entry;
	return true;
}

/* The stacks, up to an empty line or the maps. */
static bool read_entries(struct profile *profile)
{
	char *line;

	while ((line = tpa_lines_next(profile->source->lines)) && *line && strcmp(line, "MAPPED_LIBRARIES:") != 0)
		if (!read_entry(profile, line))
			return false;
	return true;
}

static bool read_maps(struct profile *profile)
{
	char *line;

	while ((line = tpa_lines_next(profile->source->lines)))
		if (*line && strcmp(line, "MAPPED_LIBRARIES:") != 0 && !tpa_read_text(&line, "build=") &&
		    !tpa_mapped_files_add(&profile->maps, profile->source, line))
			return tpa_source_wrong(profile->source, "a line of /proc/PID/maps is wanted");
	return true;
}

static uint32_t node_of(const struct profile *profile, const struct entry *entry)
{
	uint32_t node = TPROF_NODE_ROOT;

	for (size_t i = entry->depth; i > 0; i--) {
		uint64_t pc = profile->addresses[entry->stack + i - 1];

		node = tpa_write_node(profile->source->writer, node,
				      pc ? tpa_write_frame(profile->source->writer,
							   tpa_mapped_files_module(&profile->maps, pc - 1), pc)
					 : 0);
	}
	return node;
}

/* Blocks of about one size that have so many bytes in all; freed at once, or kept at addresses from *address on. */
static void write_blocks(const struct profile *profile, struct amount amount, uint32_t node, uint64_t *address)
{
	struct tpa_trace_writer *writer = profile->source->writer;

	for (uint64_t i = 0; i < amount.blocks; i++) {
		uint64_t size = amount.bytes / amount.blocks + (i < amount.bytes % amount.blocks);

		tpa_write_alloc(writer, address ? *address : BLOCKS_FROM, size, node);
		if (address)
			*address += (size + 31) & ~UINT64_C(15);
		else
			tpa_write_free(writer, BLOCKS_FROM);
	}
}

static void write_all(const struct profile *profile)
{
	uint64_t address = BLOCKS_FROM;

	if (profile->freed.blocks <= FREED_MOST)
		for (size_t i = 0; i < profile->entry_count; i++)
			write_blocks(profile, profile->entries[i].freed, node_of(profile, &profile->entries[i]), NULL);
	for (size_t i = 0; i < profile->entry_count; i++)
		write_blocks(profile, profile->entries[i].used, node_of(profile, &profile->entries[i]), &address);
}

static void add_notes(const struct profile *profile)
{
	struct tpa_source *source = profile->source;

	tpa_source_note(
		source,
		"imported from %s, which gperftools wrote: what was in use when it was dumped, and what had been "
		"allocated until then. It has no times, so the peak is what was in use, and of sizes only the mean of "
		"each stack",
		source->file);
	if (profile->freed.blocks > FREED_MOST)
		tpa_source_note(source,
				"%" PRIu64 " blocks that had been freed are left out: only memory in use is imported",
				profile->freed.blocks);
}

bool tpa_import_gperftools(struct tpa_source *source)
{
	struct profile profile = { .source = source };
	bool good = read_head(&profile) && read_entries(&profile) && read_maps(&profile);

	if (good) {
		write_all(&profile);
		add_notes(&profile);
	}
	free(profile.entries);
	free(profile.addresses);
	tpa_mapped_files_free(&profile.maps);
	return good;
}
