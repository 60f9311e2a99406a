/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/screen.h"

#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#define MORE_COLUMNS 9 /* of how far the text is scrolled */

static SCREEN *screen;

bool tpa_screen_open(void)
{
	int error;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || setupterm(NULL, STDOUT_FILENO, &error) != OK ||
	    !cursor_address)
		return false;
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return false;
	cbreak();
	noecho();
	keypad(stdscr, true);
	curs_set(0);
	if (has_colors()) {
		start_color();
		use_default_colors();
		for (short color = COLOR_BLACK; color <= COLOR_WHITE; color++)
			init_pair((short)(color + 1), color, -1);
	}
	return true;
}

void tpa_screen_close(void)
{
	endwin();
	delscreen(screen);
}

int tpa_screen_width(void)
{
	return COLS;
}

int tpa_screen_height(void)
{
	return LINES > 1 ? LINES - 1 : 1;
}

/* "\033[1;36m": bold, dim and the foreground's color are all that a page uses; "\033[0m" or "\033[m" ends them. */
static const char *set_style(WINDOW *pad, const char *sequence)
{
	const char *at = sequence + 2;
	attr_t style = A_NORMAL;
	char *end;

	while (*at && *at != 'm') {
		long code = strtol(at, &end, 10);

		style |= code == 1 ? A_BOLD : code == 2 ? A_DIM : A_NORMAL;
		if (code >= 30 && code <= 37 && has_colors())
			style |= (attr_t)COLOR_PAIR(code - 30 + 1);
		at = end > at ? end : at + 1;
		at += *at == ';';
	}
	wattrset(pad, (int)style);
	return *at ? at + 1 : at;
}

static void add_line(WINDOW *pad, const char *line, const char *end)
{
	while (line < end) {
		const char *plain = memchr(line, '\033', (size_t)(end - line));

		plain = plain ? plain : end;
		waddnstr(pad, line, (int)(plain - line));
		line = plain < end ? set_style(pad, plain) : plain;
	}
}

/* A pad as wide as the screen, with lines that are longer continued in the next. *rows: of the text. */
static WINDOW *draw(const char *text, int *rows)
{
	size_t bytes = strlen(text), most = bytes / (size_t)COLS + 2;
	WINDOW *pad;

	for (size_t i = 0; i < bytes; i++)
		most += text[i] == '\n';
	pad = newpad(most < INT16_MAX ? (int)most : INT16_MAX, COLS);
	while (pad && *text) {
		const char *end = strchrnul(text, '\n');
		int begun = getcury(pad);

		add_line(pad, text, end);
		/* A line that fills the last column has moved on already. */
		if (getcurx(pad) || getcury(pad) == begun)
			waddch(pad, '\n');
		text = *end ? end + 1 : end;
	}
	*rows = pad ? getcury(pad) : 0;
	return pad;
}

size_t tpa_screen_show(const char *text, size_t first, const char *footer)
{
	int height = tpa_screen_height(), rows, last;
	WINDOW *pad = draw(text, &rows);

	last = rows > height ? rows - height : 0;
	if (first > (size_t)last)
		first = (size_t)last;
	erase();
	attron(A_REVERSE);
	mvaddnstr(LINES - 1, 0, footer, COLS - 1);
	if (last && COLS > MORE_COLUMNS)
		mvprintw(LINES - 1, COLS - MORE_COLUMNS, " %5d%% ", (int)(100 * first / (size_t)last));
	attroff(A_REVERSE);
	wnoutrefresh(stdscr);
	if (pad) {
		pnoutrefresh(pad, (int)first, 0, 0, 0, height - 1, COLS - 1);
		delwin(pad);
	}
	doupdate();
	return first;
}

int tpa_screen_key(int wait_ms)
{
	int key;

	timeout(wait_ms);
	key = getch();
	switch (key) {
	case ERR:
	case KEY_RESIZE:
		return TPA_SCREEN_NONE;
	case KEY_UP:
		return TPA_SCREEN_UP;
	case KEY_DOWN:
		return TPA_SCREEN_DOWN;
	case KEY_PPAGE:
		return TPA_SCREEN_PAGE_UP;
	case KEY_NPAGE:
		return TPA_SCREEN_PAGE_DOWN;
	case KEY_HOME:
		return TPA_SCREEN_HOME;
	case KEY_END:
		return TPA_SCREEN_END;
	default:
		return key < 256 ? key : TPA_SCREEN_NONE;
	}
}

bool tpa_screen_ask(const char *question, char *answer, size_t size)
{
	move(LINES - 1, 0);
	clrtoeol();
	addstr(question);
	timeout(-1);
	echo();
	curs_set(1);
	if (getnstr(answer, (int)size - 1) == ERR)
		answer[0] = 0;
	noecho();
	curs_set(0);
	return answer[0] != 0;
}
