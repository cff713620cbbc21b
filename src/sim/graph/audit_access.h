#ifndef SIM_AUDIT_ACCESS_H
#define SIM_AUDIT_ACCESS_H

#include "sim/graph/allotment.h"
#include "sim/graph/audit.h"
#include "sim/graph/audit_send.h"
#include "sim/graph/audit_whole.h"
#include "sim/graph/box.h"
#include "sim/graph/cover.h"
#include "sim/graph/race.h"
#include "sim/graph/sample.h"
#include "sim/graph/shadow.h"

/*
 * What all instructions do alike: boxes that lie where they may, and walks over
 * the sticks in them.  Faults are those of the current instruction.
 */
struct audit {
	const struct program *program;
	int rank;
	struct faults *faults;
	struct race *race;
	struct shadow *shadow;
	struct cover *cover;
	struct sample *sample;     /* NULL in data mode */
	struct audit_whole *whole; /* NULL where tiles move in boxes */
	struct allotment_index allotments;
	struct audit_runs runs;
	int64_t lx_bytes;
	uint32_t current;
	const struct instruction *instruction; /* the current one */
};

const char *audit_name(const struct audit *audit, int tensor);

/* False after a fault: such a box must not be walked. */
bool audit_hbm_box(struct audit *audit, const struct region *region,
	const struct location *location, struct box *box);
bool audit_lx_box(struct audit *audit, const struct region *region, const struct location *location,
	int core, int tensor, int64_t unit, struct box *box);

/* The sticks of a box, as those of a tensor. */
void audit_read(struct audit *audit, const struct box *box, int core, int tensor);
void audit_write(struct audit *audit, const struct box *box, int core, int tensor);

/* The part of the reduction that all units of an accumulator hold. */
uint64_t audit_read_accumulator(struct audit *audit, const struct box *box, int core);
void audit_write_accumulator(struct audit *audit, const struct box *box, int core, uint64_t part);

/* What is finished holds the whole reduction. */
void audit_check_whole(struct audit *audit, int op, const struct box *box, int core, uint64_t part);

#endif
