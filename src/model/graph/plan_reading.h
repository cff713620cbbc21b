#ifndef MODEL_PLAN_READING_H
#define MODEL_PLAN_READING_H

#include "base/array.h"
#include "model/graph/plan.h"
#include "model/graph/workload.h"
#include "spec/reader.h"

/* A plan while its file is read: steps first, as the moves among them make
 * tensors; then where tensors are, the proof, and checks of the whole (plan_read.c). */
/* The one after it has a number, too. */
enum { BUNDLE_MOST = INT32_MAX - 1 };

struct written_stay {
	struct residency residency;
	struct span span;
	size_t order; /* in the file */
};

/* What a tensor is from the op on that makes it. */
struct version {
	int origin, producer, tensor;
};

struct plan_reading {
	const struct reading *reading;
	struct plan *plan;
	struct growing growing;          /* the workload as far as the steps go */
	const struct workload *workload; /* the same */
	int *origins;                    /* by tensor: where evictions and reloads began */
	int *in_lx, *in_hbm;             /* by tensor: what it is by now there after those */
	struct array(
		struct version) versions; /* by origin, then producer, once all steps are read */
	struct array(struct step) steps;
	struct array(struct tile_run) runs;
	struct array(struct written_stay) stays;
};

#define WRONG(file, span, ...) diag_error((file)->reading->diag, span, __VA_ARGS__)

/* The value of a key that the map has. */
struct span plan_span_of(const struct reader *map, const char *key);

/* A tensor of the workload or of a move so far; -1 after complaining. */
int plan_find_tensor(struct plan_reading *file, const char *name, struct span span);

/* What the tensor is by a step, after evictions and reloads before it; all steps are read. */
int plan_find_version(const struct plan_reading *file, int tensor, int step);

/* Steps and the workload that their moves make; false after complaining. */
bool plan_read_steps(struct plan_reading *file, struct reader *map);

#endif
