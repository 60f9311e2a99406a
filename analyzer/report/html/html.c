/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/xml.h"

/* These files are included byte by byte: the hashes in the page's policy cover all their bytes. */
__asm__(".section .rodata\n"
	".global tpa_html_style, tpa_html_script\n"
	"tpa_html_style:\n"
	".incbin \"analyzer/report/html/page.css\"\n"
	".byte 0\n"
	"tpa_html_script:\n"
	".incbin \"analyzer/report/html/page.js\"\n"
	".byte 0\n"
	".previous\n");
extern const char tpa_html_style[], tpa_html_script[];

/* The page loads nothing, sends nothing, and runs no other script or style than these. */
#define POLICY                                                                                                         \
	"default-src 'none'; style-src '" TPROF_HASH_STYLE "'; script-src '" TPROF_HASH_SCRIPT                         \
	"'; base-uri 'none'; form-action 'none'"

void tpa_html_begin(const struct tpa_html *html, const char *title)
{
	fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta "
	      "charset=\"utf-8\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY "\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
	      "<meta name=\"generator\" content=\"tprof-analyze " TPROF_VERSION_STRING "\"/>\n",
	      html->out);
	tpa_html_element(html, "title", NULL, "%s", title);
	fprintf(html->out, "<style>%s</style>\n</head>\n<body>\n", tpa_html_style);
}

void tpa_html_foot(const struct tpa_html *html, const char *more)
{
	tpa_html_element(html, "footer", NULL,
			 "Written by tprof-analyze " TPROF_VERSION_STRING
			 ". Sizes are powers of 1024. A click on a column's head sorts. The address follows what is "
			 "looked at, so a link shows others the same. %s",
			 more);
}

void tpa_html_end(const struct tpa_html *html)
{
	fprintf(html->out, "<script>%s</script>\n</body>\n</html>\n", tpa_html_script);
}

void tpa_html_text(const struct tpa_html *html, const char *text)
{
	tpa_xml_text(text, html->out);
}

static void put_escaped(const struct tpa_html *html, const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) >= 0)
		tpa_html_text(html, text);
	free(text);
}

void tpa_html_print(const struct tpa_html *html, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_escaped(html, format, args);
	va_end(args);
}

void tpa_html_element(const struct tpa_html *html, const char *tag, const char *class, const char *format, ...)
{
	va_list args;

	if (class)
		fprintf(html->out, "<%s class=\"%s\">", tag, class);
	else
		fprintf(html->out, "<%s>", tag);
	va_start(args, format);
	put_escaped(html, format, args);
	va_end(args);
	fprintf(html->out, "</%s>\n", tag);
}

void tpa_html_quote(const struct tpa_html *html, const char *class,
		    void (*print)(const struct tpa_page *page, const void *context), const void *context)
{
	char *text = NULL, *rest = NULL;
	size_t size = 0;
	struct tpa_page page = {
		.out = open_memstream(&text, &size), .utf8 = true, .exact = html->exact, .width = 400
	};

	if (!page.out)
		return;
	print(&page, context);
	fclose(page.out);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		tpa_html_element(html, "p", class, "%s", line + strspn(line, " "));
	free(text);
}

static struct tpa_text signed_text(struct tpa_text (*text)(const struct tpa_html *html, double value),
				   const struct tpa_html *html, double value)
{
	struct tpa_text plain = text(html, fabs(value));

	return value < 0 ? tpa_text_of("\xe2\x88\x92%s", plain.text) : plain;
}

static struct tpa_text byte_text(const struct tpa_html *html, double value)
{
	return tpa_bytes((uint64_t)llround(value), html->exact);
}

static struct tpa_text time_text(const struct tpa_html *html, double value)
{
	(void)html;
	return tpa_time((uint64_t)llround(value));
}

static struct tpa_text count_text(const struct tpa_html *html, double value)
{
	(void)html;
	return tpa_count((uint64_t)llround(value));
}

static struct tpa_text number_text(const struct tpa_html *html, enum tpa_html_kind kind, const json_t *value)
{
	double number = json_number_value(value);

	switch (kind) {
	case TPA_HTML_NUMBER:
		return tpa_text_of("%.0f", number);
	case TPA_HTML_COUNT:
		return signed_text(count_text, html, number);
	case TPA_HTML_BYTES:
	case TPA_HTML_RATE:
		return signed_text(byte_text, html, number);
	case TPA_HTML_TIME:
		return signed_text(time_text, html, number);
	case TPA_HTML_SHARE:
		return tpa_share(number);
	case TPA_HTML_FACTOR:
		return tpa_text_of("%.4g\xc3\x97", number);
	default:
		return tpa_text_of("%.4g", number);
	}
}

struct tpa_text tpa_html_figure(const struct tpa_html *html, enum tpa_html_kind kind, const json_t *value)
{
	if (json_is_number(value))
		return number_text(html, kind, value);
	if (json_is_array(value) && json_is_number(json_array_get(value, 0)) &&
	    json_is_number(json_array_get(value, 1)))
		return tpa_text_of("%.20s \xe2\x80\x93 %.20s", number_text(html, kind, json_array_get(value, 0)).text,
				   number_text(html, kind, json_array_get(value, 1)).text);
	return (struct tpa_text){ "\xe2\x80\x93" };
}

void tpa_html_put_value(const struct tpa_html *html, const char *key, const json_t *value)
{
	char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	if (dump) {
		fprintf(html->out, " data-k=\"%s\" data-v=\"", key);
		tpa_html_text(html, dump);
		fputc('"', html->out);
	}
	free(dump);
}

const json_t *tpa_html_at(const json_t *json, const char *path)
{
	char key[64];
	size_t length;

	for (; json && *path; path += length + (path[length] == '.')) {
		length = strcspn(path, ".");
		snprintf(key, sizeof(key), "%.*s", (int)length, path);
		json = json_object_get(json, key);
	}
	return json_is_null(json) ? NULL : json;
}

json_int_t tpa_html_integer(const json_t *json, const char *path)
{
	return json_integer_value(tpa_html_at(json, path));
}

size_t tpa_html_count(const json_t *json, const char *path)
{
	return json_array_size(tpa_html_at(json, path));
}
