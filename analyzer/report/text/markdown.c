/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/markdown.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/memory.h"

#define FENCE "```"

struct tpa_markdown {
	FILE *out;
	char *line; /* that has no end yet */
	size_t count, room;
	bool code;  /* a code block is open */
	bool blank; /* an empty line is due */
	bool begun; /* something was written */
};

/* ---- text ---- */

/* Characters that mean something wherever they are; '_' does only at the edge of a word. */
static bool is_markup(const char *text, const char *at)
{
	bool inside = at > text && isalnum((unsigned char)at[-1]) && isalnum((unsigned char)at[1]);

	return strchr("\\`*[]<>&~|$", *at) || (*at == '_' && !inside);
}

/* "- ", "+ ", "# ", "1. " and "1) " begin lists and headlines, "---" is a rule. */
static size_t before_mark(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (strchr("-+#=", *text))
		return 0;
	return digits && strchr(".)", text[digits]) && strchr(" ", text[digits + 1]) ? digits : SIZE_MAX;
}

static void put_escaped(FILE *out, const char *text, bool begins_line)
{
	size_t mark = begins_line && *text ? before_mark(text) : SIZE_MAX;

	for (const char *at = text; *at; at++) {
		if (is_markup(text, at) || (size_t)(at - text) == mark)
			fputc('\\', out);
		fputc(*at, out);
	}
}

/* As code; `|` would end the cell of a table even there. */
static void put_code(FILE *out, const char *text, bool in_table)
{
	size_t longest = 0, run = 0;

	for (const char *at = text; *at; at++) {
		run = *at == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	for (size_t i = 0; i <= longest; i++)
		fputc('`', out);
	if (longest)
		fputc(' ', out);
	for (const char *at = text; *at; at++) {
		if (*at == '|' && in_table)
			fputc('\\', out);
		fputc(*at, out);
	}
	if (longest)
		fputc(' ', out);
	for (size_t i = 0; i <= longest; i++)
		fputc('`', out);
}

/* Would GitHub see a person, an issue, an emoji (:lock:) or a link in it? It sees none in code. */
static bool refers(const char *text)
{
	for (const char *at = text; *at; at++)
		if (*at == '@' || (*at == '#' && isdigit((unsigned char)at[1])) ||
		    (*at == ':' && at[1] && (strchr(":/+-_", at[1]) || isalpha((unsigned char)at[1]))))
			return true;
	return strstr(text, "www.") != NULL;
}

/* ---- lines ---- */

static void end_code(struct tpa_markdown *markdown)
{
	if (markdown->code)
		fputs(FENCE "\n", markdown->out);
	markdown->blank |= markdown->code;
	markdown->code = false;
}

static void begin_block(struct tpa_markdown *markdown)
{
	if (markdown->begun)
		fputc('\n', markdown->out);
	markdown->begun = true;
	markdown->blank = false;
}

/* A line that would end the block is moved out of the way: a fence is indented by three blanks at most. */
static void put_code_line(struct tpa_markdown *markdown, const char *line)
{
	if (!markdown->code) {
		begin_block(markdown);
		fputs(FENCE "text\n", markdown->out);
	} else if (markdown->blank) {
		fputc('\n', markdown->out);
	}
	markdown->code = true;
	markdown->blank = false;
	fprintf(markdown->out, "%s%s\n", strncmp(line + strspn(line, " "), FENCE, strlen(FENCE)) == 0 ? "    " : "",
		line);
}

static void put_line(struct tpa_markdown *markdown, const char *line)
{
	size_t indent = strspn(line, " ");

	if (!line[indent]) {
		markdown->blank = true;
		return;
	}
	if (indent > 2 || strstr(line + indent, "  ")) {
		put_code_line(markdown, line);
		return;
	}
	end_code(markdown);
	begin_block(markdown);
	if (refers(line + indent))
		put_code(markdown->out, line + indent, false);
	else
		put_escaped(markdown->out, line + indent, true);
	fputc('\n', markdown->out);
}

static void finish_line(struct tpa_markdown *markdown)
{
	*TPA_APPEND(markdown->line, markdown->count, markdown->room) = '\0';
	markdown->count = 0;
	put_line(markdown, markdown->line);
}

static ssize_t markdown_write(void *cookie, const char *text, size_t size)
{
	struct tpa_markdown *markdown = cookie;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n')
			finish_line(markdown);
		else
			*TPA_APPEND(markdown->line, markdown->count, markdown->room) = text[i] ? text[i] : '?';
	}
	return fflush(markdown->out) == 0 && !ferror(markdown->out) ? (ssize_t)size : 0;
}

static void end_text(struct tpa_markdown *markdown)
{
	if (markdown->count)
		finish_line(markdown);
	end_code(markdown);
}

static int markdown_close(void *cookie)
{
	struct tpa_markdown *markdown = cookie;
	int result;

	end_text(markdown);
	result = fclose(markdown->out);
	free(markdown->line);
	free(markdown);
	return result;
}

FILE *tpa_markdown_open(FILE *out, struct tpa_markdown **markdown)
{
	static const cookie_io_functions_t functions = { .write = markdown_write, .close = markdown_close };
	FILE *stream;

	*markdown = tpa_zalloc(1, sizeof(**markdown));
	(*markdown)->out = out;
	stream = fopencookie(*markdown, "w", functions);
	tpa_need(stream);
	setvbuf(stream, NULL, _IOFBF, BUFSIZ * 4);
	return stream;
}

/* ---- headlines and tables ---- */

void tpa_markdown_headline(struct tpa_markdown *markdown, const char *text)
{
	end_text(markdown);
	begin_block(markdown);
	fputs("### ", markdown->out);
	if (refers(text))
		put_code(markdown->out, text, false);
	else
		put_escaped(markdown->out, text, true);
	fputc('\n', markdown->out);
}

void tpa_markdown_table(struct tpa_markdown *markdown, const char *const *titles, const bool *right, size_t count)
{
	end_text(markdown);
	begin_block(markdown);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? " | " : "| ", markdown->out);
		put_escaped(markdown->out, titles[i], false);
	}
	fputs(" |\n", markdown->out);
	for (size_t i = 0; i < count; i++)
		fputs(right[i] ? "|---:" : "|---", markdown->out);
	fputs("|\n", markdown->out);
}

void tpa_markdown_row(struct tpa_markdown *markdown, const char *const *cells, const bool *right, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *cell = cells[i] + strspn(cells[i], " ");

		fputs(i ? " | " : "| ", markdown->out);
		if (right[i] && !refers(cell))
			put_escaped(markdown->out, cell, false);
		else if (*cell)
			put_code(markdown->out, cell, true);
	}
	fputs(" |\n", markdown->out);
}
