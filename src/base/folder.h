/** Folders that are kept open, so that files are never written or removed in another folder when a path changes. */
#ifndef MUSTER_BASE_FOLDER_H
#define MUSTER_BASE_FOLDER_H

#include <dirent.h>
#include <stdbool.h>

#include "muster/status.h"

/** Whether PATH is a folder; else errno says why not. */
bool mst_is_folder(const char *path);

/** Makes the folder at PATH, and missing folders above it. Does nothing if it exists. MST_IO or MST_INVALID, naming the
 *  path, if this is not possible. */
MST_CHECKED mst_status mst_folder_make(const char *path);

/** An open folder. It stays the same folder even if its path comes to name another one. Only names without a '/' are
 *  used in it. */
typedef struct mst_folder {
    int descriptor; /**< for openat and the like; opened with O_PATH */
    char *path;     /**< for messages, and to read the files in it; "" is the current folder */
} mst_folder;

/** Opens the folder at PATH, which may contain symbolic links. MST_NOT_FOUND if there is none, MST_IO after other
 *  errors. Close it after success. */
MST_CHECKED mst_status mst_folder_open(const char *path, mst_folder *out);
/** Opens the folder NAME of PARENT, and makes it if there is none. MST_INVALID if it is a symbolic link. */
MST_CHECKED mst_status mst_folder_open_in(const mst_folder *parent, const char *name, mst_folder *out);
/** The same for a folder of this user alone (0700), which is made only with MAKE; else MST_NOT_FOUND if there is
 *  none. */
MST_CHECKED mst_status mst_folder_open_private_in(const mst_folder *parent, const char *name, bool make,
                                                  mst_folder *out);
/** Opens the folder in which the file PATH is or will be; *NAME is the last part of PATH. */
MST_CHECKED mst_status mst_folder_open_of(const char *path, mst_folder *out, const char **name);
/** Opens the same folder once more. Close the copy too. */
MST_CHECKED mst_status mst_folder_copy(const mst_folder *folder, mst_folder *out);
/** The path of the file NAME in FOLDER, to be freed; NULL if memory runs out. */
char *mst_folder_join(const mst_folder *folder, const char *name);
/** A list of the entries of FOLDER, for readdir and closedir. NULL after a failure; errno says why. */
DIR *mst_folder_list(const mst_folder *folder);
/** Sets OUT to the next entry of LIST, or NULL at its end. MST_IO if the disk fails, so that an incomplete list is not
 *  taken for a complete one. PATH is for the message. */
MST_CHECKED mst_status mst_folder_next(DIR *list, const char *path, const struct dirent **out);
/** Closes FOLDER. Does nothing if it is all zeros or closed already. */
void mst_folder_close(mst_folder *folder);

#endif
