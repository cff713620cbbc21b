#ifndef PLACE_SPILL_ROWS_H
#define PLACE_SPILL_ROWS_H

#include "solvers/place/spill/model.h"

/*
 * A row for each set of items that are there together, if no other such set holds it and it is
 * too much for the room.  Gives items and pairs their rows.
 */
void spill_rows_make(struct arena *arena, struct spill_model *model, size_t entries_most);

#endif
