#ifndef CLI_CERTIFICATE_FILE_H
#define CLI_CERTIFICATE_FILE_H

#include "search/certificate/certificate.h"
#include "spec/reader.h"

/*
 * certificate.yaml, read in two parts: first what says which problem it is of, then, when that
 * is known to be the one at hand, what it claims.  Everything that is wrong is complained about.
 */
struct certificate_file {
	struct reading reading;
	struct reader reader; /* of the map `certificate:` */
	struct certificate *certificate;
	int64_t version;
};

/* Sources and counting; false after complaining. */
bool certificate_file_open(
	struct arena *arena, const char *path, struct diag *diag, struct certificate_file *out);

/* The rest, in the names of the problem; search->objectives are not looked at. */
bool certificate_file_read(struct certificate_file *file, const struct nest_search *search);

#endif
