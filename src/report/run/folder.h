#ifndef REPORT_RUN_FOLDER_H
#define REPORT_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * Files of results folders on the disk: which of them a run writes, how they are written, how
 * those of the user follow when folders change places.  A path of a file is its name inside the
 * folder, "plans/point-001.yaml".
 */
struct arena;

/* One file alone, written beside its place and renamed; NULL, or why not.  Devices and pipes are written into. */
const char *file_write(struct arena *arena, const char *path, const char *bytes, size_t length);

/* A file that is not there yet.  False with errno. */
bool file_create(const char *path, const char *bytes, size_t length, bool to_disk);

/* A new folder, "START-PROCESS-NUMBER", with owner and mode of another; NULL with errno. */
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

/*
 * A results folder, which holds one run as a whole.  The files of a run are written into a new
 * folder beside it, and the two change places in one system call (renameat2, RENAME_EXCHANGE):
 * an end of the program or a full disk leaves the run before or the new one.  Where a system
 * cannot exchange folders, two renames do it.  The folder where the program itself runs, a mounted
 * one, and one whose parent is not ours stay: the files of the run before move into a folder inside it, those of
 * the new run out of another one, the table pareto.csv first and last.  Where a call fails, the run before moves
 * back; where the program ends in between, the table is missing, and folder_open moves it back.
 *
 * A file that no run writes (report/run/folder.h) is the user's, and stays.
 */
struct folder;

/* Makes the folder and its parents, and keeps other processes out of it until it is closed; NULL,
 * or why not. */
const char *folder_open(struct arena *arena, const char *path, struct folder **out);

/* A run that is on no disk: what is added can be read again, and is never closed. */
struct folder *folder_gather(struct arena *arena);

/* The added files: the name of file i, and its text. */
size_t folder_count(const struct folder *folder);
const char *folder_file(const struct folder *folder, size_t i, const char **text);

/* As it was given. */
const char *folder_name(const struct folder *folder);

/* A file of the run; `name` may have one folder in front ("plans/a.yaml").  Kept, not copied. */
void folder_add(struct folder *folder, const char *name, const char *text);

/* Puts the files that were added in the place of the run before; NULL, or why not.  It is called
 * once. */
const char *folder_close(struct folder *folder);

#endif
