#ifndef REPORT_FOLDER_H
#define REPORT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A results folder.  Files are written beside their place and renamed, so that
 * an interrupted run leaves the old file or the new one, never a part of one.
 */
struct arena;

/* Makes the folder and its parents; NULL, or why not. */
const char *folder_open(struct arena *arena, const char *path);

/* One file alone; NULL, or why not.  What is no file, a device or a pipe, is written into. */
const char *file_write(struct arena *arena, const char *path, const char *bytes, size_t length);

/* The same inside a folder.  `name` may have one folder in front ("plans/a.yaml"): such a file is
 * one of many, and nobody waits for the disk. */
const char *folder_write(
	struct arena *arena, const char *path, const char *name, const char *bytes, size_t length);

/* Removes `name` where it exists; answers whether it did. */
bool folder_remove(struct arena *arena, const char *path, const char *name);

#endif
