/** Files that are read whole, and files that are written to the side and renamed when they are whole. */
#ifndef MUSTER_BASE_FILE_H
#define MUSTER_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/folder.h"
#include "muster/status.h"

/** Makes the file at PATH hold SIZE bytes of DATA. They are written to the side, synced and renamed: PATH is the old
 *  file or the new one, whole, at any time and after a crash. If PATH is a symbolic link, it stays one, and the file
 *  that it leads to is replaced. A link that another user has made in a folder like /tmp is not followed, as under
 *  Linux' fs.protected_symlinks. MST_IO, naming the path, if the file cannot be written; the old file stays then. */
MST_CHECKED mst_status mst_file_write(const char *path, const void *data, size_t size);
/** The same of the file NAME of FOLDER. If that is a symbolic link, the link is replaced. */
MST_CHECKED mst_status mst_file_write_in(const mst_folder *folder, const char *name, const void *data, size_t size);

typedef struct mst_file_part {
    const void *data;
    size_t size;
} mst_file_part;
/** The same with the parts one after the other. */
MST_CHECKED mst_status mst_file_write_parts(const char *path, const mst_file_part *part, int num_parts);

/** The beginning of the names of files and folders that are being written. */
#define MST_FILE_SIDE ".muster-"
enum { MST_FILE_SIDE_SIZE = sizeof MST_FILE_SIDE + 13 };
/** Writes such a name: MST_FILE_SIDE and 13 random letters and digits. Process numbers are not used: programs in two
 *  containers may have the same number and write to one folder. */
void mst_file_side_name(char name[MST_FILE_SIDE_SIZE]);
bool mst_file_is_side_name(const char *name);

/** A file that is being written, to the side. Its descriptor has a lock (flock) as long as it is open. By the lock
 *  mst_file_claim tells a file that is being written from one that a dead process has left. */
typedef struct mst_file {
    mst_folder folder;
    char *path;                    /**< where it will be */
    char side[MST_FILE_SIDE_SIZE]; /**< its name in the folder until then */
    int descriptor;
    uint64_t size, begun; /**< bytes written; how many of these the disk was told to begin with */
} mst_file;

/** Begins a file that will be PATH, or what the symbolic link PATH leads to; commit or abandon it. Nothing is left to
 *  do after a failure. */
MST_CHECKED mst_status mst_file_create(const char *path, mst_file *out);
/** The same of the file NAME of FOLDER. If that is a symbolic link, the link will be replaced. */
MST_CHECKED mst_status mst_file_create_in(const mst_folder *folder, const char *name, mst_file *out);
MST_CHECKED mst_status mst_file_append(mst_file *file, const void *data, size_t size);
/** The same at OFFSET, at most the size so far, over what was written there. */
MST_CHECKED mst_status mst_file_put(mst_file *file, uint64_t offset, const void *data, size_t size);
/** Syncs it and gives it its name, in place of the file that had it. After a failure only the old file is there. */
MST_CHECKED mst_status mst_file_commit(mst_file *file);
/** Removes it; nothing if it was committed or never created. */
void mst_file_abandon(mst_file *file);
/** Removes the file at PATH, if there is one. */
MST_CHECKED mst_status mst_file_remove(const char *path);
MST_CHECKED mst_status mst_file_remove_in(const mst_folder *folder, const char *name);
/** Takes the lock of the file NAME of FOLDER that its writer has: a descriptor to be closed, or -1 if a process is
 *  writing it, if it is no regular file, or if that cannot be known. What is claimed can be removed. */
int mst_file_claim(const mst_folder *folder, const char *name);
/** Whether FOLDER has something of that NAME, be it a link that leads nowhere. MST_IO if that cannot be found
 *  out. */
MST_CHECKED mst_status mst_file_is_there(const mst_folder *folder, const char *name, bool *out);
/** Syncs the folder of PATH, so that what was renamed and removed there is on the disk too, if the file system supports
 *  that. */
void mst_file_sync_folder(const char *path);

/** System calls with which file.c changes the disk, or asks what is on it. */
typedef enum mst_file_call {
    MST_FILE_LOOK,
    MST_FILE_CREATE,
    MST_FILE_WRITE,
    MST_FILE_SYNC,
    MST_FILE_RENAME,
    MST_FILE_UNLINK
} mst_file_call;
/** Asked before each call: 0, or the number of the error with which it fails. A write of *SIZE bytes can be made
 *  shorter; one that fails writes *SIZE bytes before, if that was made less. Below 0: a sync is left out. */
typedef int (*mst_file_fault)(mst_file_call call, size_t *size);
/** For tests of what happens when the disk is full or gone; NULL ends it. */
void mst_file_replace_fault(mst_file_fault function);

/** Fails as mst_file_write would, as far as that can be known before; writes nothing. MST_INVALID if PATH is something
 *  else than a regular file. */
MST_CHECKED mst_status mst_file_check(const char *path);

/** The bytes of the file at PATH, which the caller frees with free(). Fails with MST_NOT_FOUND if there is none,
 *  MST_INVALID if it is no regular file or has more than MOST bytes, MST_IO if it cannot be read; each message
 *  names the path. There is memory for one byte more. */
MST_CHECKED mst_status mst_file_read(const char *path, size_t most, void **data, size_t *size);

/** Whether DESCRIPTOR is a pipe or socket that has no reader any more. */
bool mst_file_reader_left(int descriptor);

#endif
