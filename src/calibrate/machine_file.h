#ifndef CALIBRATE_MACHINE_FILE_H
#define CALIBRATE_MACHINE_FILE_H

#include "model/machine/arch.h"
#include "spec/step.h"

/*
 * An architecture file some of whose attributes may move:
 *
 *	- !Component
 *	  name: HBM
 *	  attributes: {shared_bandwidth: 150GB/s}
 *	  free: {shared_bandwidth: [120GB/s, 180GB/s]}
 *
 * `free` stands beside `attributes` and gives the least and the largest value of some of them, in the unit
 * that the attribute has.
 */
struct free_attribute {
	const char *level, *key, *unit;
	double value, least, most;
	bool whole; /* value and ends have no fraction, and no unit: only whole numbers are tried */
	size_t from, to; /* bytes of the value in the file */
};

enum { FREE_MOST = 64 };

struct machine_file {
	const struct source *source;
	size_t count;
	const struct free_attribute *free; /* in the order of the file */
};

/* False after complaining. */
struct arena;
bool machine_file_read(struct arena *arena, const struct source *source, struct diag *diag,
	struct machine_file *out);

/* The file with other values. */
const char *machine_file_text(
	struct arena *arena, const struct machine_file *file, const double *values);

/* The machine of those; NULL after complaining. */
const struct arch *machine_file_make(struct arena *arena, const struct machine_file *file,
	const double *values, struct diag *diag);

#endif
