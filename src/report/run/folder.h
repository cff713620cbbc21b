#ifndef REPORT_FOLDER_H
#define REPORT_FOLDER_H

#include <stddef.h>

/*
 * A results folder, which holds one run as a whole.  The files of a run are written into a new
 * folder beside it, and the two change places in one system call (renameat2, RENAME_EXCHANGE):
 * an end of the program or a full disk leaves the run before or the new one.  Where a system
 * cannot exchange folders, two renames do it.  The folder where the program itself runs, a mounted
 * one, and one whose parent is not ours stay: the files of the run before move into a folder inside it, those of
 * the new run out of another one, the table pareto.csv first and last.  Where a call fails, the run before moves
 * back; where the program ends in between there is no table, and folder_open moves it back.
 *
 * A file that no run writes (report/run/folder_files.h) is the user's, and stays.
 */
struct arena;
struct folder;

/* Makes the folder and its parents, and keeps other processes out of it until it is closed; NULL,
 * or why not. */
const char *folder_open(struct arena *arena, const char *path, struct folder **out);

/* A run that is on no disk: what is added can be read again, and is never closed. */
struct folder *folder_gather(struct arena *arena);

/* What was added: the name of file i, and its text. */
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
