#ifndef REPORT_UNFIT_YAML_H
#define REPORT_UNFIT_YAML_H

#include "search/packing/unfit.h"

/*
 * A proof that some buffers do not fit, as a file:
 *
 *	certificate:
 *	  version: 1
 *	  claim: does not fit
 *	  capacity: 100
 *	  alignment: 1
 *	  reserved: [[0, 8]]
 *	  buffers:                                   # those that do not fit, numbered from 0
 *	  - {id: "a", lower: 0, upper: 4, size: 60}
 *	  forks: 1
 *	  leaves: 2
 *	  proof:                                     # 0/1: a fork between those two; x: a leaf
 *	  - 0/1 x x
 *
 * `packing` is of those buffers alone (packing_of_some).
 */
struct arena;

const char *unfit_yaml(
	struct arena *arena, const struct packing *packing, const struct unfit_proof *proof);

#endif
