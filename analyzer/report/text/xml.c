/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/xml.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* Length of the UTF-8 character in the NUL-terminated `text` if XML allows it, else 0. */
static size_t utf8_length(const unsigned char *text)
{
	int length = tpa_utf8_bytes(text, strnlen((const char *)text, 4));

	if (length == 1 && (text[0] < ' ' || text[0] == 127))
		return 0;
	if (length == 3 && text[0] == 0xef && text[1] == 0xbf && text[2] >= 0xbe)
		return 0; /* U+FFFE or U+FFFF */
	return length > 0 ? (size_t)length : 0;
}

static void put_character(const unsigned char *text, size_t length, FILE *out)
{
	switch (length == 1 ? text[0] : 0) {
	case '&':
		fputs("&amp;", out);
		break;
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	default:
		fwrite(text, 1, length, out);
		break;
	}
}

size_t tpa_xml_start(const char *text, size_t max, FILE *out)
{
	size_t count = 0;

	for (const unsigned char *p = (const unsigned char *)text; *p && count < max; count++) {
		size_t length = utf8_length(p);

		if (length)
			put_character(p, length, out);
		else
			fputc('?', out);
		p += length ? length : 1;
	}
	return count;
}

void tpa_xml_text(const char *text, FILE *out)
{
	tpa_xml_start(text, SIZE_MAX, out);
}
