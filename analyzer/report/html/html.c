/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/xml.h"

/* Files of their own beside this one, included as they are: the hashes in the page's policy are of all their bytes. */
__asm__(".section .rodata\n"
	".global tp_html_style, tp_html_script\n"
	"tp_html_style:\n"
	".incbin \"analyzer/report/html/html.css\"\n"
	".byte 0\n"
	"tp_html_script:\n"
	".incbin \"analyzer/report/html/html.js\"\n"
	".byte 0\n"
	".previous\n");
extern const char tp_html_style[], tp_html_script[];
extern const char tp_flame_script[]; /* flame.c */

/* Nothing is loaded from anywhere, nothing is sent anywhere, and no other script or style than these is heeded. */
#define POLICY                                                                                                         \
	"default-src 'none'; style-src '" TPROF_HASH_STYLE "'; script-src '" TPROF_HASH_SCRIPT "' '" TPROF_HASH_FLAME  \
	"'; base-uri 'none'; form-action 'none'"

void tp_html_begin(const struct tp_html *html, const char *title)
{
	fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta "
	      "charset=\"utf-8\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY "\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
	      "<meta name=\"generator\" content=\"tprof-analyze " TPROF_VERSION_STRING "\"/>\n",
	      html->out);
	tp_html_element(html, "title", NULL, "%s", title);
	fprintf(html->out, "<style>%s</style>\n</head>\n<body>\n", tp_html_style);
}

void tp_html_end(const struct tp_html *html)
{
	fprintf(html->out, "<script>%s</script>\n<script>%s</script>\n</body>\n</html>\n", tp_flame_script,
		tp_html_script);
}

void tp_html_text(const struct tp_html *html, const char *text)
{
	tp_xml_text(text, html->out);
}

static void put_escaped(const struct tp_html *html, const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) >= 0)
		tp_html_text(html, text);
	free(text);
}

void tp_html_print(const struct tp_html *html, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_escaped(html, format, args);
	va_end(args);
}

void tp_html_element(const struct tp_html *html, const char *tag, const char *class, const char *format, ...)
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

void tp_html_quote(const struct tp_html *html, const char *class,
		   void (*print)(const struct tp_page *page, const void *context), const void *context)
{
	char *text = NULL, *rest = NULL;
	size_t size = 0;
	struct tp_page page = { .out = open_memstream(&text, &size), .utf8 = true, .exact = html->exact, .width = 400 };

	if (!page.out)
		return;
	print(&page, context);
	fclose(page.out);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		tp_html_element(html, "p", class, "%s", line + strspn(line, " "));
	free(text);
}

static struct tp_text signed_text(struct tp_text (*text)(const struct tp_html *html, double value),
				  const struct tp_html *html, double value)
{
	struct tp_text plain = text(html, fabs(value)), with_sign;

	if (value >= 0)
		return plain;
	snprintf(with_sign.text, sizeof(with_sign.text), "\xe2\x88\x92%.40s", plain.text);
	return with_sign;
}

static struct tp_text byte_text(const struct tp_html *html, double value)
{
	return tp_bytes((uint64_t)llround(value), html->exact);
}

static struct tp_text time_text(const struct tp_html *html, double value)
{
	(void)html;
	return tp_time((uint64_t)llround(value));
}

static struct tp_text count_text(const struct tp_html *html, double value)
{
	(void)html;
	return tp_count((uint64_t)llround(value));
}

static struct tp_text number_text(const struct tp_html *html, enum tp_html_kind kind, const json_t *value)
{
	double number = json_number_value(value);
	struct tp_text text = { "" };

	switch (kind) {
	case TP_HTML_NUMBER:
		snprintf(text.text, sizeof(text.text), "%.0f", number);
		return text;
	case TP_HTML_COUNT:
		return signed_text(count_text, html, number);
	case TP_HTML_BYTES:
	case TP_HTML_RATE:
		return signed_text(byte_text, html, number);
	case TP_HTML_TIME:
		return signed_text(time_text, html, number);
	case TP_HTML_SHARE:
		snprintf(text.text, sizeof(text.text), number > 0 && number < 0.0005 ? "<0.1%%" : "%.1f%%",
			 100 * number);
		return text;
	case TP_HTML_FACTOR:
		snprintf(text.text, sizeof(text.text), "%.3g\xc3\x97", number);
		return text;
	default:
		snprintf(text.text, sizeof(text.text), "%.4g", number);
		return text;
	}
}

struct tp_text tp_html_figure(const struct tp_html *html, enum tp_html_kind kind, const json_t *value)
{
	struct tp_text text = { "\xe2\x80\x93" };

	if (json_is_number(value))
		return number_text(html, kind, value);
	if (json_is_array(value) && json_is_number(json_array_get(value, 0)) &&
	    json_is_number(json_array_get(value, 1)))
		snprintf(text.text, sizeof(text.text), "%.20s \xe2\x80\x93 %.20s",
			 number_text(html, kind, json_array_get(value, 0)).text,
			 number_text(html, kind, json_array_get(value, 1)).text);
	return text;
}

void tp_html_put_value(const struct tp_html *html, const char *key, const json_t *value)
{
	char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	if (dump) {
		fprintf(html->out, " data-k=\"%s\" data-v=\"", key);
		tp_html_text(html, dump);
		fputc('"', html->out);
	}
	free(dump);
}

const json_t *tp_html_at(const json_t *json, const char *path)
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

json_int_t tp_html_integer(const json_t *json, const char *path)
{
	return json_integer_value(tp_html_at(json, path));
}

size_t tp_html_count(const json_t *json, const char *path)
{
	return json_array_size(tp_html_at(json, path));
}
