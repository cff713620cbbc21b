#ifndef REPORT_FOLDER_FILES_H
#define REPORT_FOLDER_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * Files of results folders on the disk: which of them a run writes, how they are written, how
 * those of the user follow when folders change places.  A path of a file is its name inside the
 * folder, "plans/point-001.yaml".
 */
struct arena;

/* One file alone, written beside its place and renamed; NULL, or why not.  What is no file, a
 * device or a pipe, is written into. */
const char *file_write(struct arena *arena, const char *path, const char *bytes, size_t length);

/* A file that is not there yet.  errno tells why not. */
bool file_create(const char *path, const char *bytes, size_t length, bool to_disk);

/* A new folder, "START-PROCESS-NUMBER", with owner and mode of another; NULL: errno tells why. */
const char *folder_create(struct arena *arena, const char *start, const struct stat *like);

/* Makes every folder on the way to the last '/' of a path; NULL, or why not. */
const char *folder_parents(struct arena *arena, const char *path);

/* Gives all files of the user in one folder a second name in another; false if that cannot be. */
bool folder_link(struct arena *arena, const char *from, const char *to);

/* Removes the files of runs; of others those that the folder `kept` has, too, if there is one.
 * False where one of them stays. */
bool folder_clear(struct arena *arena, const char *path, const char *kept);

/* Moves the files of a run from one folder to another; the table pareto.csv, which names the others, leaves
 * first or arrives last.  False where one of them stays. */
bool folder_move(struct arena *arena, const char *from, const char *to, bool table_first);

/* Clears and removes what folder_create made from the same start before, however a program ended;
 * files of the user that `kept` does not have stay where they are. */
void folder_sweep(struct arena *arena, const char *start, const char *kept);

/* The first folder that begins like this, or NULL. */
const char *folder_find(struct arena *arena, const char *start);

#endif
