#ifndef SUPPORT_BROKEN_EXACT_H
#define SUPPORT_BROKEN_EXACT_H

#include "search/drive/solver.h"

/* The exact search with one fault, to see whether a comparison would notice. */
enum exact_fault {
	EXACT_RIGHT,
	EXACT_BOUND,  /* a tenth too high */
	EXACT_ORDER,  /* of every level only the last class of orders is tried */
	EXACT_CHOICE, /* the most promising choice is left out */
	EXACT_FAULTS
};
extern const char *const exact_fault_names[EXACT_FAULTS];

extern enum exact_fault exact_fault; /* what is broken */
extern const struct solver broken_exact_solver;

#endif
