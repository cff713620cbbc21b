#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Texts: characters in UTF-8, growing strings, parsing of a line, files as texts of the program, and fitting into a
 * terminal.
 *
 * First, characters in UTF-8 text of known length.
 */
struct arena;
struct text;

/* Bytes of the character at `at`, 1 to 4; 0 if it is broken, cut, overlong, a
 * surrogate or past U+10FFFF.  `left` > 0. */
size_t utf8_read(const char *at, size_t left, uint32_t *character);

/* Characters in this many bytes; a broken byte counts as one. */
size_t utf8_count(const char *bytes, size_t length);

/* Columns that a terminal gives to it: 0, 1 or 2. */
int utf8_width(uint32_t character);

/* Bytes of the line break at `at`: LF, CR, CR LF and, as YAML counts lines,
 * U+0085, U+2028 and U+2029; 0 if there is none. */
size_t utf8_break(const char *at, size_t left);

/*
 * Bytes of the character at `at`, and its number, if YAML does not take it as it is within quotes on
 * one line: controls, line ends of all kinds (U+0085, U+2028, U+2029), U+FEFF.  0 if it does.
 */
size_t utf8_special(const char *at, unsigned *number);

/* True if a terminal obeys the character instead of showing it: controls but for line ends and tabs, and marks
 * that turn the direction of text around them. */
bool utf8_is_obeyed(uint32_t character);

/* The text with such characters as "\u202e", and broken bytes as "\xff". */
const char *utf8_shown(struct arena *arena, const char *text);

/* Writes text the same way to people; for short messages, which may have names from specs.  utf8_put needs no
 * memory; utf8_print fits lines into a terminal. */
void utf8_put(FILE *file, const char *text);
void utf8_print(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds text with such characters as "\u2028", which is the same in JSON and in quotes in YAML; but
 * for those of ASCII, as line ends. */
void utf8_escape(struct text *text, const char *line);

/*
 * A growing string in an arena; `at` is always terminated once text was added.
 * Growing moves it; the old place stays allotted until the arena ends.
 */
struct text {
	struct arena *arena;
	char *at;
	size_t length, capacity;
};

struct text text_open(struct arena *arena);
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a sentence in lines of at most `width` columns, each after `indent`; a longer word has a line of its own. */
void text_fold(struct text *text, size_t width, const char *indent, const char *sentence);
void text_bytes(struct text *text, const char *bytes, size_t count);

/* The string so far; "" when nothing was added. */
const char *text_read(const struct text *text);

/* All bytes of a file; NULL, with errno, if it cannot be read. */
const char *text_of_file(struct arena *arena, const char *path);

/* The same bytes; neither may be NULL. */
bool text_equal(const char *a, const char *b);

/*
 * Parsing of a line of text.
 */
static inline bool scan_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Letters of ASCII and '_'. */
static inline bool scan_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Each function skips blanks and moves *at past what it found.  If it finds nothing it returns false and leaves *at
 * unchanged. */
bool scan_text(const char **at, const char *text);
bool scan_integer(const char **at, int64_t *out); /* decimal digits, no sign */
bool scan_end(const char **at);                   /* nothing but blanks is left */

/* Bytes of a text that cannot be read, and the reason. */
struct scan_fault {
	size_t from, to;
	const char *text;
};

/* A text that is parsed from `at` on; the first fault ends that. */
struct scan {
	struct arena *arena;
	const char *text, *blanks;
	const char *what; /* as messages call it: "op" */
	size_t at;
	struct scan_fault *fault;
};

/* The next byte that is not blank. */
char scan_next(struct scan *scan);

/* Takes the next byte if it is this one. */
bool scan_take(struct scan *scan, char wanted);

/* Takes a word that begins with a letter and goes on with letters, digits and bytes of `also`; NULL if none is next. */
const char *scan_word(struct scan *scan, const char *also);

/* Sets the fault; false. */
bool scan_fail(struct scan *scan, size_t from, size_t to, const char *text);

/* The same for what comes next, a character or the end, in place of what is wanted. */
bool scan_fail_next(struct scan *scan, const char *wanted);

/*
 * The bytes of a file as the text `name`, put in by the assembler when the program is built.  The path is from
 * the root of the checkout; the Makefile has the dependence of the object on the file.
 *
 *	extern const char page_css[];
 *	EMBED(page_css, "src/report/page/page.css");
 */
#define EMBED(name, path)                                                                          \
	__asm__(".pushsection .rodata\n.global " #name "\n.hidden " #name "\n" #name               \
		":\n.incbin \"" path "\"\n.byte 0\n.popsection\n")

/*
 * Text for people in a window of so many columns.
 *
 * Lines that fit stay as they are.  Lines without an empty one between them are a block.  If a line of the block is
 * too wide and at least two positions in all of its lines are blank side by side, the block is a table: its columns
 * lie between such gutters.  A last column that has room for a third of the window is wrapped; else the columns that
 * do not fit follow below, behind the first one, which is repeated.  A cell that is wider than what is left beside
 * the first column is wrapped.  Other lines are broken at blanks and go on behind an indent.  A word is broken
 * nowhere, so a word wider than the window stays as it is.
 */
const char *fit_text(struct arena *arena, const char *text, size_t columns);

/* Columns of a terminal, at least 40; 0: the stream goes elsewhere. */
size_t fit_columns(FILE *stream);

/* The same for the window of a terminal; for other streams the text as it is. */
const char *fit_stream(struct arena *arena, FILE *stream, const char *text);

#endif
