#ifndef SIM_IMAGE_H
#define SIM_IMAGE_H

#include "model/machine/layout.h"

/*
 * The elements of a stick in the host array: `lanes` of them from linear index
 * `host` on, `step` apart; the stick's other lanes are padding.  `coordinates`
 * are the host coordinates of the first.
 */
struct image_stick {
	int64_t host, step;
	int lanes;
	int64_t coordinates[LAYOUT_HOST_RANK_MOST];
};

struct image_stick image_find(const struct layout *layout, int64_t stick);

/* Between the host array and STICK_BYTES of a memory; packing leaves padding alone. */
void image_pack(const struct layout *layout, int64_t stick, const void *array, void *memory);
void image_unpack(const struct layout *layout, int64_t stick, const void *memory, void *array);

#endif
