#ifndef SPEC_READER_H
#define SPEC_READER_H

#include "base/array.h"
#include "base/diag.h"
#include "base/number.h"
#include "spec/expr.h"
#include "spec/node.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Typed reads over a tree.  Every read of a map's key marks the key as known;
 * `reader_done` then complains about all keys that were not read, with the
 * nearest known one; if an error ended the reading, not about keys of its noun.  A read never stops the program: it complains, keeps the
 * default that `*out` held, and returns false; without a complaint for a missing
 * optional key.
 *
 *	struct reader map;
 *	if (!reader_open(&map, r, node, "level"))   // complains unless it is a map
 *		return;
 *	read_text(&map, "name", REQUIRED, &name);
 *	read_size(&map, "capacity", OPTIONAL, 0, INT64_MAX, &capacity);
 *	reader_done(&map);
 *
 * `null` and `~` count as missing.  Numbers may be arithmetic over the variables
 * of the spec (`variables:`), see expr.h.  Whole numbers and fractions are
 * exact; a whole number is required where an integer is asked for.  Units: bytes
 * B KB MB GB KiB MiB GiB; clocks Hz kHz MHz GHz; rates B/s .. GB/s, GiB/s;
 * energies fJ pJ nJ; times ns us ms s.  A bare number is in bytes, Hz, B/s, pJ,
 * ns, and so is *out; a unit of the wrong kind is an error.
 */
struct arena;
struct noun;
struct unread;

enum need { OPTIONAL, REQUIRED };

/* State shared by all maps of one run; made by sheet_reading. */
struct reading {
	struct arena *arena;
	struct diag *diag;
	struct variables *variables; /* of the `variables:` key, or NULL */
	struct unread *unread;       /* NULL: every unknown key is an error */
};

struct reader {
	const struct reading *reading;
	const struct node *map;
	const char *what;        /* "level 'LX'": stands in messages */
	const struct noun *noun; /* whose keys the map may have (spec/field.h); NULL: any */
	size_t errors;           /* of the run when the map was opened */
	const char **known;      /* the keys asked for so far */
	size_t known_count, known_capacity;
};

/* `what` is a word such as "level"; messages add the map's `name`. */
bool reader_open(struct reader *reader, const struct reading *reading, const struct node *node,
	const char *what);
void reader_done(struct reader *reader);

/* The same for maps of Timeloop's formats, where it ignores what it does not know:
 * only a key that is one letter (of a long word two) from a key that the map might
 * have and does not is an error; the others go into the run's one note. */
void reader_done_lenient(struct reader *reader);

/* True if a key was asked for. */
bool reader_asked(const struct reader *reader, const char *key);

/* True if a key has a value. */
bool reader_given(const struct reader *reader, const char *key);

/* Complains about a node, and shows the alias that leads to it.  Always false. */
bool reading_refuse(const struct reading *reading, const struct node *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns the name of a key's value for messages: "'capacity' in level 'LX'". */
const char *reader_place(const struct reader *reader, const char *key);

/* Complains about the value that a key has: "'capacity' in level 'LX' is too large".  Always false. */
bool reader_refuse(const struct reader *reader, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The node itself, marked as known; NULL when missing (REQUIRED complains). */
const struct node *read_node(struct reader *reader, const char *key, enum need need);
const struct node *read_map(struct reader *reader, const char *key, enum need need);
const struct node *read_list(struct reader *reader, const char *key, enum need need);

bool read_text(struct reader *reader, const char *key, enum need need, const char **out);
bool read_bool(struct reader *reader, const char *key, enum need need, bool *out);
bool read_integer(struct reader *reader, const char *key, enum need need, int64_t least,
	int64_t most, int64_t *out);
bool read_size(struct reader *reader, const char *key, enum need need, int64_t least, int64_t most,
	int64_t *bytes);
bool read_number(struct reader *reader, const char *key, enum need need, double *out);
bool read_ratio(struct reader *reader, const char *key, enum need need, struct ratio *out);
bool read_hertz(struct reader *reader, const char *key, enum need need, struct ratio *out);
bool read_rate(struct reader *reader, const char *key, enum need need, struct ratio *bytes_per_s);
/* At most PICOJOULES_MOST, so that the energy of 2^63 actions at each of many levels is finite, and its
 * product with a time, too. */
#define PICOJOULES_MOST 1e30
bool read_picojoules(struct reader *reader, const char *key, enum need need, double *out);
bool read_nanoseconds(struct reader *reader, const char *key, enum need need, struct ratio *out);

/* One of the words (NULL ends them); *out is its index. */
bool read_word(
	struct reader *reader, const char *key, enum need need, const char *const *words, int *out);

/* A list of words, or one word alone; texts live in the reading's arena. */
bool read_texts(struct reader *reader, const char *key, enum need need, const char *const **out,
	size_t *count);

/* The same for a node at hand: elements of lists, values of maps with free keys. */
bool node_integer(const struct reading *reading, const struct node *node, const char *what,
	int64_t least, int64_t most, int64_t *out);
bool node_size(const struct reading *reading, const struct node *node, const char *what,
	int64_t least, int64_t most, int64_t *bytes);
bool node_nanoseconds(const struct reading *reading, const struct node *node, const char *what,
	struct ratio *out);
bool node_number(
	const struct reading *reading, const struct node *node, const char *what, double *out);
bool node_text(
	const struct reading *reading, const struct node *node, const char *what, const char **out);

/*
 * Keys of the specs that nothing reads, in places where Timeloop ignores unknown keys.
 * They are collected over all files of a run and reported in one note.
 */
struct node_entry;

struct unread_key {
	const char *key, *what; /* 'bank' in "architecture" */
	struct span span;
};

struct unread {
	struct array(struct unread_key) keys;
	struct names names;  /* of the keys: each is kept where it is met first */
	bool for_components; /* some say something of a component, which Accelergy may read */
};

void unread_add(struct arena *arena, struct unread *unread, const struct node_entry *entry,
	const char *what);

/* One note at the first of the keys; nothing where there are none. */
void unread_note(struct arena *arena, const struct unread *unread, struct diag *diag);

#endif
