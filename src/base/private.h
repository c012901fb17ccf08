/** Folders and files that only their owner may use, such as keys and compiled code. The program trusts their contents,
 *  so no other user may have written them. */
#ifndef MUSTER_BASE_PRIVATE_H
#define MUSTER_BASE_PRIVATE_H

#include <stddef.h>
#include <sys/stat.h>

#include "muster/status.h"

/** MST_INVALID if the file or folder of INFO belongs to another user, or if others may use it. The message begins with
 *  "WHAT 'PATH'". ADVICE says what to do if it belongs to another user. MORE is added to the advice to run chmod; it
 *  may be "". Get INFO by fstat from the descriptor that is then used: a path could name another file after the
 *  check. */
MST_CHECKED mst_status mst_private_check(const struct stat *info, const char *what, const char *path,
                                         const char *advice, const char *more);
/** Makes the folder PATH and the missing folders above it, each for its owner alone (0700). Folders named by the first
 *  AT bytes of PATH are not made. Returns 0, or an errno. PATH is modified during the call and restored. */
int mst_private_make_folders(char *path, size_t at);

#endif
