#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Complaints about the user's input.  All are collected, none is printed
 * before the end; the caller asks `diag_failed` once.  Printed as
 *
 *	arch.yaml:12:5: error: unknown key 'capcity' in level 'LX'; did you mean 'capacity'?
 *	   12 |     capcity: 2MiB
 *	      |     ^~~~~~~
 *
 * Wording: lower case, what and where, then what would be right; names
 * quoted.  After DIAG_MOST errors the rest is only counted.  The same complaint
 * about the same place is kept once.
 */
struct arena;
struct diag;

enum { DIAG_MOST = 20 };

/* A text that spans point into: a file, or an argument of the command line. */
struct source {
	const char *name; /* as the user wrote it; "argument 3" for arguments */
	const char *bytes;
	size_t length;
	uint64_t hash; /* of a file: FNV-1a, 64 bits, of all that was read */
	const struct source_mark
		*marks; /* see source_mark; NULL: places are counted from the start */
	size_t mark_count;
	const struct source_piece *pieces; /* of a text put together of files; NULL: of one */
	size_t piece_count;
};

/* From byte `at` of a text on, until the next piece: bytes of a file, from its byte `from` on. */
struct source_piece {
	size_t at, from;
	const struct source *source;
};

/* The line and column of the character at a byte. */
struct source_mark {
	size_t at;
	int line, column;
};

/* Stores the line and column of every few hundred bytes of a long text, which makes the functions below fast. */
void source_mark(struct arena *arena, struct source *source);

/* 1-based; columns count characters, not bytes.  source NULL: no place known;
 * line 0: the file as a whole. */
struct span {
	const struct source *source;
	int line, column;
	int end_line, end_column; /* one past the last character */
};

/* Returns the offset in bytes of a character of a line; at most the end of the text. */
size_t source_offset(const struct source *source, int line, int column);

/* The span of the bytes from `from` up to, not with, `to`. */
struct span source_span(const struct source *source, size_t from, size_t to);

/* The place in the file that a place of a text put together comes from; other places as they are. */
struct span source_told(struct span span);

struct diag *diag_open(struct arena *arena);

/* A note explains the error or warning before it ("first given here"); a remark stands alone, about input that
 * was read in a way that the user may not expect. */
enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE, SEVERITY_REMARK };
void diag_add(struct diag *diag, enum severity severity, struct span at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
#define diag_error(diag, at, ...) diag_add(diag, SEVERITY_ERROR, at, __VA_ARGS__)
#define diag_warning(diag, at, ...) diag_add(diag, SEVERITY_WARNING, at, __VA_ARGS__)
#define diag_note(diag, at, ...) diag_add(diag, SEVERITY_NOTE, at, __VA_ARGS__)
#define diag_remark(diag, at, ...) diag_add(diag, SEVERITY_REMARK, at, __VA_ARGS__)

/* Marks the errors that follow: `illegal` ones are about legible input that breaks a rule, others about input that
 * cannot be read (the default). */
void diag_judge(struct diag *diag, bool illegal);

/* From here on remarks are printed as one line, which counts them. */
void diag_fold_remarks(struct diag *diag);

/* Adds the messages of another one, apart from those that are here already, with the same place. */
void diag_take(struct diag *diag, const struct diag *other);

struct diag_message {
	enum severity severity;
	struct span at;
	const char *text;
	bool illegal; /* of an error: see diag_judge */
};

/* The messages kept so far, in the order in which they were added. */
size_t diag_count(const struct diag *diag);
struct diag_message diag_message(const struct diag *diag, size_t i);

bool diag_failed(const struct diag *diag);   /* any error so far? */
size_t diag_errors(const struct diag *diag); /* how many, those past DIAG_MOST too */
/* True if there are errors, and none of them is about what cannot be read. */
bool diag_only_illegal(const struct diag *diag);
/* The next error is only counted: its details need not be worked out. */
bool diag_full(const struct diag *diag);
void diag_print(const struct diag *diag, FILE *stream);

/* The nearest of `known` (NULL ends it), or NULL if none is near: at most
 * 1 + length/4 insertions, deletions, substitutions or swaps away, or longer
 * words that begin with `word`.  Upper and lower case count as equal. */
const char *suggest(const char *word, const char *const *known);

/* "; did you mean 'near'?", or `otherwise` where nothing is near. */
const char *suggestion(struct arena *arena, const char *near, const char *otherwise);

/* The same for a word that may also be meant as it is: at most 1 + length/8 away. */
const char *suggest_misspelt(const char *word, const char *const *known);

#endif
