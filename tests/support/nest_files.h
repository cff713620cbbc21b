#ifndef SUPPORT_NEST_FILES_H
#define SUPPORT_NEST_FILES_H

#include "model/nest/hierarchy.h"

/* One case of the family loop-nest, read: problem, machine and mapping, with its flags. */
struct family;

struct nest_files {
	struct family *family;
	struct arena *arena;
	const char *folder, *machine;
	const struct shape *shape;
	struct hierarchy *hierarchy;
	struct mapping mapping;
};

/* Reads root/loop-nest/name, with the machine of that file; false after a note about what does not
 * read. */
bool nest_files_read(struct family *family, const char *root, const char *name, const char *machine,
	struct nest_files *files);

/* Every case of the family, with the machine that ran and with what its user wrote. */
typedef void nest_files_check(
	struct family *family, const char *root, const char *name, const char *machine);
void nest_files_each(struct family *family, const char *root, nest_files_check *check);

#endif
