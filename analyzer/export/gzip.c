/* SPDX-License-Identifier: Apache-2.0 */
#include "export/gzip.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/memory.h"

#define GZIP_FORMAT 16 /* added to the size of the window: see deflateInit2() */

struct tpa_gzip {
	FILE *out;
	z_stream stream;
	uint8_t packed[1 << 16];
};

struct tpa_gzip *tpa_gzip_begin(FILE *out)
{
	struct tpa_gzip *gzip = tpa_zalloc(1, sizeof(*gzip));

	gzip->out = out;
	tpa_need(deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP_FORMAT, MAX_MEM_LEVEL,
			      Z_DEFAULT_STRATEGY) == Z_OK);
	return gzip;
}

static void deflate_some(struct tpa_gzip *gzip, int flush)
{
	do {
		gzip->stream.next_out = gzip->packed;
		gzip->stream.avail_out = sizeof(gzip->packed);
		deflate(&gzip->stream, flush);
		fwrite(gzip->packed, 1, sizeof(gzip->packed) - gzip->stream.avail_out, gzip->out);
	} while (!gzip->stream.avail_out);
}

void tpa_gzip_write(struct tpa_gzip *gzip, const void *bytes, size_t size)
{
	const uint8_t *next = bytes;

	while (size) {
		uInt part = size < UINT_MAX ? (uInt)size : UINT_MAX;

		gzip->stream.next_in = (Bytef *)next;
		gzip->stream.avail_in = part;
		deflate_some(gzip, Z_NO_FLUSH);
		next += part;
		size -= part;
	}
}

bool tpa_gzip_end(struct tpa_gzip *gzip)
{
	bool good;

	gzip->stream.avail_in = 0;
	deflate_some(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
	good = !ferror(gzip->out);
	free(gzip);
	return good;
}
