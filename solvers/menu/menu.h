#ifndef MENU_MENU_H
#define MENU_MENU_H

#include "model/packing/capture.h"

/*
 * A capture as its solvers see it: pairs sorted, buffers in the order in which they are made, and
 * what no answer is below.
 */

/* An op that reads a buffer. */
struct menu_reader {
	const struct capture_edge *edge;
	size_t place; /* of the op in the order */
};

struct menu_item {
	const struct capture_buffer *buffer;
	size_t reader_count;
	struct menu_reader *readers;
	struct capture_edge *edges; /* those of the buffer, pairs by parent's division, then own */
	bool *usable; /* by division: each reader has one that finds it in LX, and it fits alone */
	bool is_usable; /* any of them */
	int *same;      /* by division: see menu_merge */
};

struct menu_problem {
	const struct capture_question *question;
	int64_t room; /* no more menu_bytes can live at once: the last buffer need not end aligned */
	size_t count;
	struct menu_item *items;   /* by buffer */
	int *order;                /* buffers by the step in which they are made */
	struct capture_cost *rest; /* lower bound of order[i] and all after it; count + 1 of them */
};

struct arena;
struct menu_problem menu_open(struct arena *arena, const struct capture_question *question);

/* Bytes of a buffer per core, up to a multiple of the alignment. */
int64_t menu_bytes(const struct menu_problem *menu, int buffer, int division);

/* The pairs of an edge with one division of the parent: [*from, *to). */
void menu_row(const struct capture_edge *edge, int division, size_t *from, size_t *to);

/* Sets `same` of a buffer: the first usable division that neither a reader after place i of the
 * order nor the capacity tells from it. */
void menu_merge(struct menu_problem *menu, int buffer, size_t i);

/* True if a has more cores than b, or as many and fewer squares. */
bool menu_is_better(const struct capture_division *a, const struct capture_division *b);

struct capture_cost menu_add(const struct capture_cost *a, const struct capture_cost *b);

/* The buffers in LX, to be placed once divisions and residency are chosen. */
struct menu_packing {
	struct packing packing;
	int *buffers; /* of the capture, by buffer of the packing */
};
struct menu_packing menu_packing(struct arena *arena, const struct menu_problem *menu,
	const int *divisions, const bool *stays);

#endif
