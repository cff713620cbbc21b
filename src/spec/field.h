#ifndef SPEC_FIELD_H
#define SPEC_FIELD_H

#include "spec/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The keys of a map, each described once: the typed reads with their complaints, the JSON schema
 * (cli/schema.h), the tables of the pages and `lxplore list attributes` are made from it.
 *
 *	static const struct field fields[] = {
 *		{"channels", FIELD_WHOLE, "messages on a link at a time", .usual = "1",
 *			INTO(struct copying, channels), .least = 1, .most = 1024},
 *		{"dims", FIELD_NUMBER, "sides of the mesh", .shape = SHAPE_LIST},
 *		{0},
 *	};
 *	const struct noun links_noun = {"links", fields};
 *
 *	fields_read(&map, &links_noun, &copying, NULL);
 *
 *	fields_write(text, &links_noun, &copying, ", ");
 *
 * A row with a place is read into it, by its own function if it has one; the place keeps what it held if the
 * key is missing.  A row with KEEP puts the value itself, a list or a map as its shape and type say, into a
 * place of type const struct node *, for a reader of its own; with KEEP_ANY, a value of any kind.  A row with
 * neither is read elsewhere.  Of several values the place is a struct texts, or a
 * struct numbers if they are FIELD_WHOLE or FIELD_SIZE, or with `count` an array that a function reads.  The writer prints the rows with a place;
 * those that only a function reads have none.
 */
enum field_type {        /* and the type of its place */
	FIELD_ANY,       /* none */
	FIELD_TEXT,      /* const char * */
	FIELD_FLAG,      /* bool */
	FIELD_WHOLE,     /* int64_t or int, from `least` to `most` */
	FIELD_SIZE,      /* int64_t or int, bytes, likewise */
	FIELD_NUMBER,    /* double */
	FIELD_RATIO,     /* struct ratio */
	FIELD_RATE,      /* struct ratio: bytes per second */
	FIELD_CLOCK,     /* struct ratio, Hz */
	FIELD_TIME,      /* struct ratio, nanoseconds */
	FIELD_ENERGY,    /* double, pJ, at most PICOJOULES_MOST */
	FIELD_CHOICE,    /* int, bool or an enum: the index of one of `words` */
	FIELD_MAP,       /* none, or the struct of `noun`; NULL: a map of any keys */
	FIELD_SENTENCES, /* none: a sentence for each key of `noun` */
};

enum field_shape {
	SHAPE_ONE,
	SHAPE_LIST,
	SHAPE_SOME,  /* one, or a list */
	SHAPE_NAMED, /* a map whose keys are names of the user's */
};

enum field_keep { KEEPS_NO_NODE, KEEPS_KIND, KEEPS_ANY };

/* Several values; `at` is NULL if the key is missing. */
struct texts {
	const char *const *at;
	size_t count;
};

struct numbers {
	const int64_t *at;
	size_t count;
};

struct noun;

struct field {
	const char *key; /* NULL ends a table; `constraints_*`: all keys that begin so */
	enum field_type type;
	const char *help;  /* a noun phrase with its unit; NULL: internal, or of another program */
	const char *usual; /* the value of a missing key, in words; NULL: none */
	const char *when;  /* what has it: "home", "array"; NULL: all */
	const char *needs; /* a key without which it says nothing; NULL: none */
	/* All spellings, `key` among them, in which '-' is as good as '_'; blanks are between.  Of several that are
	 * given the first counts.  NULL: the key as it is. */
	const char *spellings;
	enum field_shape shape;
	bool required;
	/* Of a map that has several forms, the bits of those that have the row (0: all), and that need it. */
	unsigned forms, needed;
	bool has_place;
	enum field_keep keep;
	size_t offset, size; /* of the place */
	size_t count;        /* of the numbers in it, if it is an array */
	int64_t least, most;
	const char *omit; /* the value that the writer leaves out; NULL: none */
	const char *item; /* name of one of several numbers in messages: "an address" */
	bool (*has)(
		const void *whole); /* true if a map with those earlier rows has it; NULL: any */
	const char *const *words;
	const struct noun *noun;
	/* Reads the value into `whole`, the struct that has the place; `context` is that of fields_read. */
	void (*read)(
		struct reader *map, const struct field *field, void *whole, const void *context);
	unsigned marks; /* bits that the noun's own reader gives a meaning */
};

/* The place of a field in the struct that has it. */
static inline void *field_place(const struct field *field, void *whole)
{
	return (char *)whole + field->offset;
}

#define INTO(whole, member)                                                                        \
	.has_place = true, .offset = offsetof(whole, member), .size = sizeof((whole *)0)->member

#define KEEP_AS(how, whole, member)                                                                \
	.has_place = true, .keep = (how), .size = sizeof(const struct node *),                     \
	.offset = offsetof(whole, member) +                                                        \
		  0 * sizeof(&((whole *)0)->member == (const struct node **)0)
#define KEEP(whole, member) KEEP_AS(KEEPS_KIND, whole, member)
#define KEEP_ANY(whole, member) KEEP_AS(KEEPS_ANY, whole, member)

struct noun {
	const char *name; /* that of its definition in the schema */
	const struct field *fields;
	const struct noun *const *parts; /* whose fields it has besides; NULL ends them */
	bool (*more)(size_t i,
		struct field *field); /* fields from another table; false after the last */
	const char *
		also; /* JSON types that may stand in place of the map, blanks between: "string null" */
	const struct noun *items; /* what a list in its place has; NULL: it is never a list */
	const char
		*older; /* the key without which the map has an older form; NULL: there is none */
};

/* The i-th field of a noun, those of its parts after its own; false after the last. */
bool noun_field(const struct noun *noun, size_t i, struct field *field);

/* The row of a key, in any spelling, in the tables of a noun; NULL: none. */
const struct field *noun_find(const struct noun *noun, const char *key);

/* True if a noun has the key, in any spelling. */
bool noun_has(const struct noun *noun, const char *key);

/* The place of a key among the spellings of a field; -1: it is none of them. */
int field_spelling(const struct field *field, const char *key);

/* The i-th spelling as a text of the arena; NULL after the last. */
const char *field_spelling_at(struct arena *arena, const struct field *field, int i);

/* Opens a map whose keys are those of a noun: debug builds refuse a read of any other key. */
bool noun_open(struct reader *map, const struct reading *reading, const struct node *node,
	const char *what, const struct noun *noun);

/* Reads the noun's own fields in their order, then checks what each needs. */
void fields_read(struct reader *map, const struct noun *noun, void *whole, const void *context);

/* The same of a map in one of the noun's forms: rows of other forms are not read. */
void fields_read_form(struct reader *map, const struct noun *noun, unsigned form, void *whole,
	const void *context);

/* Marks the noun's own keys as known: another reader of the same map reads them. */
void fields_mark(struct reader *map, const struct noun *noun);

/* The spelling in which a map has a field's key, the first of several; the key if it has none. */
const char *field_given(const struct reader *map, const struct field *field);

/* The `read` of a row whose value may be empty, as if it were missing, unless the row is needed. */
void field_read_filled(
	struct reader *map, const struct field *field, void *whole, const void *context);

/* The `read` of a row whose value is not used, but must be of its type. */
void field_check(struct reader *map, const struct field *field, void *whole, const void *context);

/* The `read` of a row that nothing needs: marks its key as known. */
void field_skip(struct reader *map, const struct field *field, void *whole, const void *context);

/* A number in the fewest digits that are read as the same number. */
const char *real_text(struct arena *arena, double value);

/* Adds the noun's own fields that have a place and a value as `key: value`, in their order. */
void fields_write(
	struct text *text, const struct noun *noun, const void *whole, const char *between);

#endif
