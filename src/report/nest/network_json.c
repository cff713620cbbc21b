#include "report/nest/nest_results.h"
#include "report/nest/network_results.h"
#include "report/run/json_text.h"
#include "report/run/run_json.h"

static json_t *make_layer(struct arena *arena, const struct network_explored *explored, size_t l)
{
	const struct network *network = explored->search->network;
	const struct layer *layer = &network->layers[l];
	const struct explored *found = &explored->layers[l];
	json_t *object = json_pack("{s:s, s:I, s:I, s:b}", "layer", layer->name, "count",
		(json_int_t)layer->count, "points", (json_int_t)found->frontier.count, "complete",
		found->complete);
	if (layer->same_as != l) {
		json_object_set_new(
			object, "same_as", json_string(network->layers[layer->same_as].name));
		return object;
	}
	struct space_sizes sizes = space_sizes(explored->search->layers[l]->space, arena);
	json_object_set_new(object, "mapspace", json_string(sizes.all));
	json_object_set_new(object, "counters", run_counters(&found->effort));
	return object;
}

const char *network_run_json(struct arena *arena, const struct run_record *record,
	const struct network_explored *explored, size_t chosen)
{
	const struct network *network = explored->search->network;
	json_t *root = run_head(record, arena), *layers = json_array();
	for (size_t l = 0; l < network->layer_count; l++)
		json_array_append_new(layers, make_layer(arena, explored, l));
	json_object_set_new(root, "network",
		json_pack("{s:s, s:I, s:I, s:I, s:I}", "name", network->name, "occurrences",
			(json_int_t)network_occurrences(network), "layers",
			(json_int_t)network->layer_count, "solved", (json_int_t)network->distinct,
			"cache_hits", (json_int_t)(network->layer_count - network->distinct)));
	json_object_set_new(root, "energy_source",
		json_string(explored->search->layers[0]->hierarchy->energy_source));
	json_object_set_new(root, "counters", run_counters(&explored->total.effort));
	json_object_set_new(root, "complete", json_boolean(explored->total.complete));
	json_object_set_new(root, "sums",
		json_pack("{s:I, s:I, s:f}", "formed", (json_int_t)explored->sums.formed, "points",
			(json_int_t)explored->sums.count, "excess", explored->sums.excess));
	if (explored->least_edp != SIZE_MAX)
		json_object_set_new(
			root, "least_edp", json_integer((json_int_t)explored->least_edp + 1));
	if (chosen != SIZE_MAX)
		json_object_set_new(root, "chosen", json_integer((json_int_t)chosen + 1));
	json_object_set_new(root, "layers", layers);
	return json_text(arena, root);
}
