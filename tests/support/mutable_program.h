#ifndef SUPPORT_MUTABLE_PROGRAM_H
#define SUPPORT_MUTABLE_PROGRAM_H

#include "lower/graph/program.h"

/*
 * A copy of a program to break: nothing in it is shared, neither with the
 * original nor between instructions.
 */
struct arena;

struct mutable_instruction {
	struct instruction *head; /* of the copy */
	uint32_t *dependences;
	struct transfer *transfer; /* one of these four, or none */
	struct operand_box *transfer_box;
	struct compute *compute;
	int64_t *first, *count;       /* its loops */
	struct location *accumulator; /* of the compute; NULL: none */
	struct whole_operand *whole;  /* the same */
	struct combine *combine;
	struct send *send;
	struct operand_box *send_from, *send_to;          /* of the send; NULL: none */
	struct operand_box *reads[OP_READS_MOST], *write; /* of the compute */
};

struct mutable_program {
	struct program program;
	struct mutable_instruction *instructions;
	struct allotment *allotments;
};

struct mutable_program *mutable_copy(struct arena *arena, const struct program *program);

/*
 * Instructions i and j change places in their queues.  Dependences go with
 * them: who waited for i waits for it where it is now.
 */
void mutable_swap(struct mutable_program *copy, uint32_t i, uint32_t j);

#endif
