/** Folders and files that are their owner's alone, such as keys, and code that was compiled: what they hold is trusted,
 *  so no other user may have written it. */
#ifndef MUSTER_BASE_PRIVATE_H
#define MUSTER_BASE_PRIVATE_H

#include <stddef.h>
#include <sys/stat.h>

#include "muster/status.h"

/** MST_INVALID if the file or folder of INFO belongs to another user, or if others may use it. The message begins with
 *  "WHAT 'PATH'". ADVICE says what to do if it belongs to another user. MORE is added to the advice to run chmod; it
 *  may be "". INFO is that of an open descriptor, so that it cannot become another file after the check. */
MST_CHECKED mst_status mst_private_check(const struct stat *info, const char *what, const char *path,
                                         const char *advice, const char *more);
/** Makes the missing folders of PATH after its first AT bytes, each for its owner alone. Returns errno, or 0. PATH is
 *  the same again afterwards. */
int mst_private_make_folders(char *path, size_t at);

#endif
