#include "model/nest/constraint.h"

const char *const constraint_part_names[] = {
	"spatial", "temporal", "dataspace", "machine", "graph", 0};
