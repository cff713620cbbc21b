#include "model/transfer/collective.h"

#include <stddef.h>

const char *const operation_names[] = {
	"broadcast", "gather", "scatter", "reduce", "put", "get", NULL};
const char *const reduction_names[] = {"sum", "max", "min", NULL};
const char *const notify_op_names[] = {"set", "add", NULL};
const char *const wait_cmp_names[] = {"eq", "ne", "gt", "ge", "lt", "le", NULL};

bool operation_pulls(enum operation operation)
{
	return operation == OPERATION_GATHER || operation == OPERATION_REDUCE ||
	       operation == OPERATION_GET;
}

bool operation_splits(enum operation operation)
{
	return operation == OPERATION_GATHER || operation == OPERATION_SCATTER;
}

bool operation_is_pair(enum operation operation)
{
	return operation == OPERATION_PUT || operation == OPERATION_GET;
}

bool handshake_passes(const struct handshake *handshake, int64_t notified)
{
	int64_t wanted = handshake->wanted, is = notified ? handshake->value : 0;
	if (handshake->op == NOTIFY_ADD)
		is = notified * handshake->value;
	switch (handshake->cmp) {
	case WAIT_EQ:
		return is == wanted;
	case WAIT_NE:
		return is != wanted;
	case WAIT_GT:
		return is > wanted;
	case WAIT_GE:
		return is >= wanted;
	case WAIT_LT:
		return is < wanted;
	case WAIT_LE:
		return is <= wanted;
	}
	return false;
}

int64_t handshake_least(const struct handshake *handshake, int64_t most)
{
	int64_t least = 0;
	while (least <= most && !handshake_passes(handshake, least))
		least++;
	for (int64_t more = least; more <= most; more++)
		if (!handshake_passes(handshake, more))
			return -1;
	return least <= most ? least : -1;
}
