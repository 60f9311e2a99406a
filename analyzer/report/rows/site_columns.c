/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/site_columns.h"

#define SUM(member) TPA_MEMBER(struct tpa_row, member)
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name can't have parentheses */
#define SOME(of, member) TPA_ESTIMATE(struct tpa_row, of.member, of.variance.member)
#define PART(member) TPA_PER(struct tpa_row, member, self.allocations)

/* `bytes` and `blocks`: the members of struct tpa_sums that the report is about. */
#define SITE_COLUMNS(bytes, blocks)                                                                                    \
	{ "bytes", "bytes", TPA_UNIT_BYTES, SOME(self, bytes) },                                                       \
		{ "share", "%", TPA_UNIT_SHARE, SUM(self.bytes), .of_whole = true, .no_json = true },                  \
		{ "blocks", "blocks", TPA_UNIT_COUNT, SOME(self, blocks) },                                            \
		{ "total_bytes", "with callees", TPA_UNIT_BYTES, SOME(total, bytes),                                   \
		  .hint = "this line's and what it called's" },                                                        \
		{ "total_share", "%", TPA_UNIT_SHARE, SUM(total.bytes), .of_whole = true, .no_json = true },           \
		{ "total_blocks", NULL, TPA_UNIT_COUNT, SOME(total, blocks) },                                         \
	{                                                                                                              \
		"inner_bytes", "with inner layers", TPA_UNIT_BYTES, SOME(total, bytes), .no_json = true                \
	}

/* Places and names: the listings format these cells themselves. */
#define PLACE_COLUMNS                                                                                                  \
	{ "stack", "allocated by", .unit = TPA_UNIT_OTHER }, { "line", "line", .unit = TPA_UNIT_OTHER },               \
		{ "function", "function", .unit = TPA_UNIT_OTHER },                                                    \
		{ "op", "op", .unit = TPA_UNIT_OTHER, .hint = "a dash: outside of every op" },                         \
	{                                                                                                              \
		.key = NULL                                                                                            \
	}

static const struct tpa_column peak_columns[] = { SITE_COLUMNS(peak_bytes, peak_blocks), PLACE_COLUMNS };
static const struct tpa_column unfreed_columns[] = { SITE_COLUMNS(live_bytes, live_blocks), PLACE_COLUMNS };
static const struct tpa_column hot_columns[] = {
	SITE_COLUMNS(bytes, allocations),
	{ "allocations", "allocations", TPA_UNIT_COUNT, SOME(self, allocations) },
	{ "allocations_share", "%", TPA_UNIT_SHARE, SUM(self.allocations), .of_whole = true, .no_json = true },
	{ "temporary", "temporary", TPA_UNIT_COUNT, SUM(self.temporary), .exact_only = true,
	  .hint = "freed by the very next event" },
	{ "temporary_share", "temporary", TPA_UNIT_SHARE, PART(self.temporary), .exact_only = true,
	  .missing = "not known", .no_json = true },
	{ "short_lived", "short-lived", TPA_UNIT_COUNT, SOME(self, short_lived), .hint = "freed within a millisecond" },
	{ "short_lived_share", "short-lived", TPA_UNIT_SHARE, PART(self.short_lived), .no_json = true },
	{ "total_allocations", "with callees", TPA_UNIT_COUNT, SOME(total, allocations) },
	{ "inner_allocations", "with inner layers", TPA_UNIT_COUNT, SOME(total, allocations), .no_json = true },
	{ "total_temporary", NULL, TPA_UNIT_COUNT, SUM(total.temporary), .exact_only = true },
	{ "total_short_lived", NULL, TPA_UNIT_COUNT, SOME(total, short_lived) },
	PLACE_COLUMNS,
};

const struct tpa_column *tpa_site_columns(enum tpa_what what)
{
	return what == TPA_WHAT_PEAK ? peak_columns : what == TPA_WHAT_UNFREED ? unfreed_columns : hot_columns;
}
