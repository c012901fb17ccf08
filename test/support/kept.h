/** Executables on disk, for their tests: an executable is a byte that is repeated, made from a text. */
#ifndef MUSTER_TEST_SUPPORT_KEPT_H
#define MUSTER_TEST_SUPPORT_KEPT_H

#include <sys/stat.h>
#include <time.h>

#include "run/executable_cache.h"

/** Bytes before those of an executable, usual bytes of one, and bytes of a path. */
enum { KEPT_HEAD = 88, KEPT_BYTES = 100, KEPT_PATH = 700 };

/** A cache, and the lines that it has written. */
typedef struct kept_cache {
    mst_executable_cache *cache;
    FILE *file;
    char *text;
    size_t size;
} kept_cache;

void kept_open(kept_cache *x, const char *folder, int64_t limit);
void kept_close(kept_cache *x);
/** The log is one warning with TEXT in it; NULL: it is empty. */
void kept_expect_said(const kept_cache *x, const char *text);

/** The key of a text. */
mst_executable_key kept_key(const char *text);
/** The path of the file of TEXT in the folder NAME of the test. */
void kept_path(const char *name, const char *text, char path[KEPT_PATH]);
/** Keeps SIZE bytes FILL. */
void kept_put(const kept_cache *x, const char *text, int fill, size_t size);
/** The byte that is repeated in the executable of TEXT, of SIZE bytes; -1: there is none, or less: it is wrong. */
int kept_find(const kept_cache *x, const char *text, size_t size);

bool kept_is_there(const char *path);
/** How many names in a folder IS is true for; NULL: all. */
int kept_count(const char *folder, bool (*is)(const char *name));
mode_t kept_mode(const char *path);
/** Sets the time of last use of the file at PATH. */
void kept_set_used(const char *path, time_t seconds);
/** Sets XDG_CACHE_HOME and HOME; NULL: they are not set. */
void kept_set_places(const char *cache, const char *home);

#endif
