#ifndef REPORT_RUN_JSON_H
#define REPORT_RUN_JSON_H

#include "search/drive/drive.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

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

/* What every run.json begins with. */
struct arena;
json_t *run_head(const struct run_record *record, struct arena *arena);

/* Its `counters`, of every kind the same. */
json_t *run_counters(const struct effort *effort);

json_t *run_texts(const char *const *at, size_t count);

#endif
