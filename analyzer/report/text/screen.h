/* SPDX-License-Identifier: Apache-2.0 */
/* Shows reports on the whole terminal, by ncurses. One screen at a time; not thread-safe. */
#ifndef TPROF_REPORT_TEXT_SCREEN_H
#define TPROF_REPORT_TEXT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum tpa_screen_keys {
	TPA_SCREEN_NONE = 256, /* none in time; or the terminal has another size now */
	TPA_SCREEN_UP,
	TPA_SCREEN_DOWN,
	TPA_SCREEN_PAGE_UP,
	TPA_SCREEN_PAGE_DOWN,
	TPA_SCREEN_HOME,
	TPA_SCREEN_END,
};

/* False: standard input or output is no terminal, or it can't move its cursor (TERM=dumb). Nothing is to be closed then. */
bool tpa_screen_open(void);
void tpa_screen_close(void);

int tpa_screen_width(void);  /* in columns */
int tpa_screen_height(void); /* in lines, without the footer */

/*
 * Shows the lines of `text` from number `first` on, with the sequences of tpa_style_on() as attributes, and the footer below in
 * reverse. Lines that are too long go on in the next. Returns the line at the top: `first`, or an earlier one if the text ends
 * before.
 */
size_t tpa_screen_show(const char *text, size_t first, const char *footer);

/* Waits for a key, at most so long: a character, or one of enum tpa_screen_keys. */
int tpa_screen_key(int wait_ms);

/* Asks for a line of text in place of the footer. False: it is empty. */
bool tpa_screen_ask(const char *question, char *answer, size_t size);

#endif
