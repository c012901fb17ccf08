/** Files that are read whole, and files that are written under a side name and renamed when they are complete. */
#ifndef MUSTER_BASE_FILE_H
#define MUSTER_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/folder.h"
#include "muster/status.h"

/** Makes the file at PATH hold SIZE bytes of DATA. They are written to a side file, synced and renamed. At any time,
 *  even after a crash, PATH is the complete old file or the complete new one. If PATH is a symbolic link, it stays one,
 *  and the file to which it leads is replaced. A link that another user has made in a folder like /tmp is not followed,
 *  as under Linux' fs.protected_symlinks. MST_IO, naming the path, if the file cannot be written; the old file stays
 *  then. */
MST_CHECKED mst_status mst_file_write(const char *path, const void *data, size_t size);
/** Writes the file NAME of FOLDER in the same way. If it is a symbolic link, the link itself is replaced. */
MST_CHECKED mst_status mst_file_write_in(const mst_folder *folder, const char *name, const void *data, size_t size);

typedef struct mst_file_part {
    const void *data;
    size_t size;
} mst_file_part;
/** Like mst_file_write, with the contents in several parts, one after the other. */
MST_CHECKED mst_status mst_file_write_parts(const char *path, const mst_file_part *part, int num_parts);

/** The beginning of the side names of files and folders that are being written. */
#define MST_FILE_SIDE ".muster-"
enum { MST_FILE_SIDE_SIZE = sizeof MST_FILE_SIDE + 13 };
/** Writes a new side name: MST_FILE_SIDE and 13 random letters and digits. Process numbers are not used, because
 *  programs in two containers may have the same number and write to one folder. */
void mst_file_side_name(char name[MST_FILE_SIDE_SIZE]);
bool mst_file_is_side_name(const char *name);

/** A file that is being written under a side name. Its descriptor has a lock (flock) while it is open. From this lock
 *  mst_file_claim knows that a file is being written, and was not left by a dead process. */
typedef struct mst_file {
    mst_folder folder;
    char *path;                    /**< path at which it will be */
    char side[MST_FILE_SIDE_SIZE]; /**< its name in the folder until then */
    int descriptor;
    uint64_t size, begun; /**< size: bytes written; begun: how many of these the system was told to begin writing to the
                               disk */
} mst_file;

/** Begins a file that will replace PATH, or the file to which the symbolic link PATH leads. Commit or abandon it; after
 *  a failure neither is needed. */
MST_CHECKED mst_status mst_file_create(const char *path, mst_file *out);
/** Begins the file NAME of FOLDER in the same way. If it is a symbolic link, the link itself will be replaced. */
MST_CHECKED mst_status mst_file_create_in(const mst_folder *folder, const char *name, mst_file *out);
/** The same for a file that only this user may use (0600), whatever the permissions of the file that it replaces. */
MST_CHECKED mst_status mst_file_create_private_in(const mst_folder *folder, const char *name, mst_file *out);
MST_CHECKED mst_status mst_file_append(mst_file *file, const void *data, size_t size);
/** Writes at OFFSET, which is at most the size so far, over the bytes written there before. */
MST_CHECKED mst_status mst_file_put(mst_file *file, uint64_t offset, const void *data, size_t size);
/** Syncs the file and renames it to its name, in place of the file that had the name. After a failure only the old file
 *  is there. */
MST_CHECKED mst_status mst_file_commit(mst_file *file);
/** Removes the file. Does nothing if it was committed or never created. */
void mst_file_abandon(mst_file *file);
/** Removes the file at PATH, if there is one. */
MST_CHECKED mst_status mst_file_remove(const char *path);
MST_CHECKED mst_status mst_file_remove_in(const mst_folder *folder, const char *name);
/** Locks the file NAME of FOLDER (flock), as a process that writes the file does. Returns the descriptor with the lock;
 *  close it. While the lock is held, the file can be removed. -1: another process has the lock, NAME is not a regular
 *  file, or a system call failed. */
int mst_file_claim(const mst_folder *folder, const char *name);
/** Sets OUT to whether FOLDER has an entry called NAME, which may be a link that leads nowhere. MST_IO if that cannot
 *  be found out. */
MST_CHECKED mst_status mst_file_is_there(const mst_folder *folder, const char *name, bool *out);
/** Syncs the folder of PATH, so that files renamed and removed there are so on the disk too. Does nothing on file
 *  systems that do not support it. */
void mst_file_sync_folder(const char *path);

/** Kinds of system calls with which file.c changes the disk or gets the status of a file (MST_FILE_LOOK). */
typedef enum mst_file_call {
    MST_FILE_LOOK,
    MST_FILE_CREATE,
    MST_FILE_WRITE,
    MST_FILE_SYNC,
    MST_FILE_RENAME,
    MST_FILE_UNLINK
} mst_file_call;
/** Called before each such call. Returns 0 to let it happen, or an errno to make it fail. For a sync, a number below 0
 *  skips it without an error. For a write it may reduce *SIZE: only that many bytes are written, even if the write is
 *  then made to fail. A write that is made to fail with *SIZE unchanged writes nothing. */
typedef int (*mst_file_fault)(mst_file_call call, size_t *size);
/** Sets the function that makes calls fail, for tests of a full or missing disk; NULL removes it. */
void mst_file_replace_fault(mst_file_fault function);

/** Fails like mst_file_write, as far as that can be known beforehand. Creates a side file and removes it; PATH does not
 *  change. MST_INVALID if PATH is not a regular file. */
MST_CHECKED mst_status mst_file_check(const char *path);

/** Reads the file at PATH into *DATA, which the caller frees with free(). MST_NOT_FOUND if there is none, MST_INVALID
 *  if it is not a regular file or has more than MOST bytes, MST_IO if it cannot be read. Each message names the path.
 *  *DATA has room for one byte more than *SIZE. */
MST_CHECKED mst_status mst_file_read(const char *path, size_t most, void **data, size_t *size);

/** Whether DESCRIPTOR is a pipe or socket that has no reader any more. */
bool mst_file_reader_left(int descriptor);

#endif
