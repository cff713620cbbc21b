#ifndef SUPPORT_MUTATED_PIECES_H
#define SUPPORT_MUTATED_PIECES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The pieces of a YAML text, found by its looks so that broken texts have them, too: a line with
 * all lines below it that stand deeper, and an entry between brackets and commas.
 */
enum { PIECES_MOST = 1024 };

struct piece {
	size_t from, to; /* bytes; lines end with their newline, entries before the comma */
	int indent;      /* -1: an entry in brackets */
	size_t group;    /* equal for neighbours: of one map or list */
};

size_t find_pieces(const char *text, struct piece *out);

/* Place of a `key: value` on one line; the value may be empty. */
struct pair {
	size_t key, key_end, value, value_end;
};

size_t find_pairs(const char *text, struct pair *out);

/* Words that begin with a letter or '_'. */
struct piece_word {
	size_t from, to;
};

size_t find_words(const char *text, struct piece_word *out);

#endif
