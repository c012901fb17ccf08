/** Stamps of files, which tell whether a file has been replaced or written since the last look. */
#ifndef MUSTER_CLI_FILE_STAMP_H
#define MUSTER_CLI_FILE_STAMP_H

#include <stdbool.h>
#include <sys/stat.h>

/** The inode number of a file and the time when it was written. Zero-initialised: there is no file. */
typedef struct file_stamp {
    ino_t number;
    struct timespec time;
} file_stamp;

/** The stamp of the file NAME in FOLDER. */
file_stamp file_stamp_of(const char *folder, const char *name);
/** Whether there was a file. */
bool file_stamp_is_set(file_stamp stamp);
bool file_stamp_equal(file_stamp a, file_stamp b);

#endif
