#include "model/nest/nest_projection.h"

#include <stddef.h>

const char *const nest_channel_names[] = {"stationary", "systolic", "direct", NULL};
