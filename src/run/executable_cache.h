/** Executables on disk. An executable is the bytes that a device's compiler makes of the text of a program. With the
 *  cache a text is compiled once, and gives the same bits in the next process too. The key of an executable is a hash
 *  of everything that it was made from.
 *
 *  The folder and its files are accessible to this user only (0700 and 0600), because executables are code:
 *
 *      FOLDER/<64 digits of the key, 0-9a-f>.executable     an executable
 *      FOLDER/.muster-...                                   one that is being written (base/file.h)
 *
 *  A file is, in this order, numbers in little-endian order:
 *
 *      12 bytes "muster-exec\n"; u32 version; u64 number of bytes; 32 bytes key; 32 bytes SHA-256 of the bytes; bytes
 *
 *  Training works without the cache. If it cannot be used, a file is damaged, or the disk is full, there is a warning
 *  and no error. There is one warning for each kind of problem. Several processes and threads may use one folder: a
 *  file appears whole or not at all. The cache keeps no descriptor and no lock between two calls. */
#ifndef MUSTER_RUN_EXECUTABLE_CACHE_H
#define MUSTER_RUN_EXECUTABLE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "muster/compile_cache.h"
#include "muster/status.h"

enum { MST_EXECUTABLE_KEY = 32, MST_EXECUTABLE_KEY_TEXT = 2 * MST_EXECUTABLE_KEY + 1 };

typedef struct mst_executable_key {
    unsigned char byte[MST_EXECUTABLE_KEY];
} mst_executable_key;

/** What an executable is made from. */
typedef struct mst_executable_source {
    const char *text;    /**< the program, in StableHLO */
    const void *options; /**< options of the compiler, as it gets them */
    size_t options_size;
    /** The compiler: its platform, its version, attributes or a hash that distinguish two builds, and its flags that
     *  are not in the options, such as those in environment variables. The module of the device type knows these. The
     *  path of the compiler is not a part, since the same compiler at another place gives the same result. */
    const char *plugin;
    const char *kind; /**< kind of the device, such as "NVIDIA H200" */
} mst_executable_source;

/** Sets OUT to the SHA-256 of all four parts, each with its size before it. No pointer may be NULL, except OPTIONS if
 *  OPTIONS_SIZE is 0. */
void mst_executable_key_make(const mst_executable_source *source, mst_executable_key *out);
/** Writes KEY in hexadecimal digits, as in the name of its file, and returns TEXT. */
const char *mst_executable_key_print(const mst_executable_key *key, char text[MST_EXECUTABLE_KEY_TEXT]);

typedef struct mst_executable_cache mst_executable_cache;

/** Opens the cache in FOLDER; nothing is read or made yet. NULL or "": "muster/executables" in $XDG_CACHE_HOME, or in
 *  $HOME/.cache if that is not set. "off": nothing is found or kept. LIMIT is the most bytes that its files may have
 *  together; 0: 1 GiB. LOG gets the warnings, and must stay open; NULL: they are not written. MST_INVALID if LIMIT is
 *  negative; MST_IO if FOLDER is relative and the current folder is not known. */
MST_CHECKED mst_status mst_executable_cache_open(const char *folder, int64_t limit, FILE *log,
                                                 mst_executable_cache **out);
/** NULL is allowed. No other thread may be in a call with CACHE. */
void mst_executable_cache_close(mst_executable_cache *cache);

/** Whether there is an executable with this key. If so, *DATA is a copy of its *SIZE bytes, which the caller frees with
 *  free(), and the executable becomes the most recently used one. Damaged files, and files that other users can access,
 *  are ignored. */
bool mst_executable_cache_find(mst_executable_cache *cache, const mst_executable_key *key, void **data, size_t *size);
/** Keeps an executable on disk, in place of an older one with this key. If all executables together then have more
 *  bytes than the limit, the least recently used ones are removed. Incomplete files of killed processes are removed
 *  too. Files that do not begin like files of this cache are never removed. */
void mst_executable_cache_keep(mst_executable_cache *cache, const mst_executable_key *key, const void *data,
                               size_t size);

/** Warns that the executable with this key cannot be used, because of the calling thread's error. The caller compiles
 *  the program anew, and keeps the result. */
void mst_executable_cache_refuse(mst_executable_cache *cache, const mst_executable_key *key);

/** Describes the folder of CACHE: see mst_compile_cache_describe. */
MST_CHECKED mst_status mst_executable_cache_describe(const mst_executable_cache *cache, mst_compile_cache_info *out);

/** These functions do the same with the cache of this process (muster/compile_cache.h). */
bool mst_executable_find(const mst_executable_key *key, void **data, size_t *size);
void mst_executable_keep(const mst_executable_key *key, const void *data, size_t size);
void mst_executable_refuse(const mst_executable_key *key);

#endif
