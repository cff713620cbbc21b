#ifndef SUPPORT_MECHANISMS_H
#define SUPPORT_MECHANISMS_H

#include "model/machine/arch.h"

/*
 * Mechanisms that cost measured machines time (specs/README.md, "Measured machines"), one by one,
 * with numbers that make whole cycles of a stick.
 */
struct mechanism {
	const char *name;
	void (*set)(struct arch *arch);
	int equal; /* percent of plans with the same cycles, at least; in others cores have unequal shares, and the model
		    * is a lower bound */
	bool rare; /* few random plans have what it slows */
};
extern const struct mechanism mechanisms[];
extern const int mechanism_count;

/* The machine of spyre.h with all of them. */
struct arena;
const struct arch *mechanisms_arch(struct arena *arena, int cores);

#endif
