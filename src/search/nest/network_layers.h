#ifndef SEARCH_NETWORK_LAYERS_H
#define SEARCH_NETWORK_LAYERS_H

#include "search/nest/network_search.h"

/* Explores the layers: fills in `layers`, `total`, `stopped` and `complete`. */
void network_layers(struct network_explored *explored, struct arena *arena);

#endif
