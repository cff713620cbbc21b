#ifndef SUPPORT_MECHANISMS_H
#define SUPPORT_MECHANISMS_H

#include "model/machine/arch.h"

/*
 * Mechanisms that cost machines time (specs/README.md, "Measured machines"), one by one, with
 * numbers that make whole cycles of a stick and of an element.
 */
struct mechanism {
	const char *name;
	void (*set)(struct arch *arch);
	int equal; /* percent of plans with the same cycles up to `parts`, at least; in others cores have unequal shares, and the model
		     * is a lower bound */
	bool overlap; /* of two things at a time, or from link to link: the model is a lower bound everywhere */
	bool parts; /* waits are rounded: up to a cycle for each instruction may lie between the two */
	bool rare; /* few random plans have what it slows */
};
extern const struct mechanism mechanisms[];
extern const int mechanism_count;

struct arena;

/* A machine in which nothing takes time; its bus is one of reads and writes. */
struct arch *ideal_arch(struct arena *arena, int cores);

/* The machine of spyre.h with all mechanisms that it has no rates for. */
const struct arch *mechanisms_arch(struct arena *arena, int cores);

#endif
