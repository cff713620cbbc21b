#include "lower/transfer/copy_program.h"

const char *const copy_queue_names[] = {"in", "out", "vector"};

bool copy_moves(enum copy_kind kind)
{
	return kind == COPY_LOAD || kind == COPY_STORE || kind == COPY_COMBINE;
}
