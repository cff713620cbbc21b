#include "cli/results_certificate.h"

#include "base/arena.h"
#include "report/nest/certificate_yaml.h"
#include "report/run/folder.h"
#include "cli/results.h"

bool results_certificate(struct arena *arena, struct folder *folder, const char *name,
	const char *layer, const struct run_record *record, const struct nest_search *search,
	const struct explored *explored)
{
	struct certificate *certificate =
		certificate_make(arena, search, explored, CERTIFICATE_LINES_MOST);
	if (!certificate)
		return false;
	struct certificate_source *sources =
		arena_array(arena, struct certificate_source, record->source_count);
	for (size_t i = 0; i < record->source_count; i++)
		sources[i] = (struct certificate_source){
			.path = record->sources[i].path, .hash = record->sources[i].hash};
	certificate->program = arena_format(arena, "lxplore %s", record->version);
	certificate->sources = sources;
	certificate->source_count = record->source_count;
	certificate->layer = layer;
	folder_add(folder, name, certificate_yaml(arena, search, certificate));
	return true;
}
