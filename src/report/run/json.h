#ifndef RUN_JSON_H
#define RUN_JSON_H

#include "base/text.h"
#include "search/drive/drive.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Results as JSON: printing of values, run.json, and traces.
 *
 * A JSON value as the text that is printed; both take it over.  As CSV it has
 * one line for each number or word in it: "levels.0.name,LX".
 */
struct arena;
const char *json_text(struct arena *arena, json_t *root);
const char *json_csv(struct arena *arena, json_t *root);

/* A number, a word or a truth value as it stands in a CSV, not yet quoted. */
const char *json_leaf_text(struct arena *arena, const json_t *leaf);

/* A field of a CSV, RFC 4180: quoted if it has a comma, a quote or a line end.  A text that a spreadsheet
 * would take for a formula is quoted and has an apostrophe in front, which csv_cells takes off. */
struct text;
void csv_field(struct text *text, const char *value);

/* The text of a JSON value, indented or not as jansson's flags say, with its escapes for what would
 * end a line in YAML.  Takes the value over; NULL if there is none. */
const char *json_dump(struct arena *arena, json_t *value, size_t flags);

/* A number; "infinite" where it is, for which JSON has none. */
json_t *json_real_or_infinite(double value);

/* Answers of a checker of certificates by enum verdict: "holds", "rejected", "undecided". */
extern const char *const certificate_answers[];

/*
 * run.json: what made a results folder.  Provenance and counters; the one file
 * in it that carries time, and so differs between equal runs.
 */
struct run_source {
	const char *path;
	uint64_t hash;    /* FNV-1a, 64 bits, of its bytes */
	const char *text; /* its bytes; NULL: it was not read from a file */
	const char *copy; /* their name in the results folder */
};

/* A file of the results folder. */
struct run_file {
	const char *name;
	uint64_t hash; /* as above */
};

struct run_record {
	const char *version;
	size_t source_count;
	const struct run_source *sources;
	size_t file_count;
	const struct run_file *files; /* those that a person may edit */
	size_t option_count;
	const char *const *options; /* as given, "--seed=3"; --jobs left out */
	uint64_t seed;
	const char *const *objectives; /* as texts; NULL ends them */
	const char *counting;          /* "exact" or "timeloop" */
	double seconds;          /* of wall clock, the one number that differs between equal runs */
	const char *certificate; /* file of a proof that can be checked; NULL: there is none */
	const char *limit;       /* what cut the run short; NULL: nothing did */
};

/* The first keys of every run.json. */
json_t *run_head(const struct run_record *record, struct arena *arena);

/* Its `counters`, of every kind the same. */
json_t *run_counters(const struct effort *effort);

json_t *run_texts(const char *const *at, size_t count);

/*
 * Events in the trace-event format that Perfetto and chrome://tracing open, one a line: a trace
 * may have millions, too many for a tree of them.
 */
struct text trace_open(struct arena *arena);
const char *trace_end(struct text *text);

/* Names a process and its threads. */
void trace_process(struct text *text, int64_t process, const char *name);
void trace_thread(struct text *text, int64_t process, int64_t thread, const char *name);

/* Something that took its time; `arguments` are given away. */
void trace_event(struct text *text, const char *name, int64_t process, int64_t thread, double us,
	double us_long, json_t *arguments);

#endif
