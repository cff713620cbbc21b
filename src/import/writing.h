#ifndef IMPORT_WRITING_H
#define IMPORT_WRITING_H

#include "base/text.h"
#include "import/build.h"
#include "import/import.h"

/*
 * Reshapes are aligned until nothing changes; then every axis is a list of factors, and every operand's
 * index is followed through its views to the factors of the stored tensor.
 */
enum { FACTORS_MOST = AXIS_SPLITS_MOST + 1, PLACES_MOST = MODEL_RANK_MOST * FACTORS_MOST };
enum { STORED_RANK_MOST = 8 };

/* The index of one factor: a sum of multiples of dimensions. */
struct index_place {
	int term_count;
	struct {
		const char *dimension;
		int64_t factor;
	} terms[TERMS_MOST];
	int64_t offset;
};

/* By axis of a view, the indices of its factors. */
struct factor_places {
	int count[MODEL_RANK_MOST];
	struct index_place at[MODEL_RANK_MOST][FACTORS_MOST];
};

struct workload_writing {
	struct build *b;
	struct text text;
	struct array(struct named_size {
		const char *name;
		int64_t extent;
		bool used;
	}) dimensions;
	struct names dimension_names;
	struct array(struct text_row { const char *text; }) ops;
	const char *loop_names[LOOPS_MOST][FACTORS_MOST];
	int loop_factors[LOOPS_MOST];
	const char *why; /* the statement in work cannot be written */
	struct import_summary *summary;
};

/* Aligns all reshapes (axes.h). */
void writing_align(struct build *b);
/* Names the factors of a statement's loops. */
void writing_name_loops(struct workload_writing *w, const struct statement *statement);
struct index_place place_of(const char *dimension);
/* The stored tensor that a view reads, a copy of a reshape among them; *places become its own. */
int writing_stored(struct workload_writing *w, int v, struct factor_places *places);

/* The notation of one op, with its output; NULL text in w->why where it cannot be written. */
const char *writing_statement(struct workload_writing *w, const struct statement *statement);
const char *writing_opaque(struct workload_writing *w, const char *name, const int *reads,
	int read_count, const int *writes, int write_count);
const char *writing_tensor_name(struct workload_writing *w, int v);
/* The view whose bytes another one reads. */
int writing_base(const struct build *b, int v);

#endif
