/** The token of a user: 32 random bytes in a file that he alone can read, made when it is first needed. Tasks at
 *  loopback addresses that have no cluster key show each other that they have it, so that other users of the machine
 *  can neither connect nor pass themselves off as a task.
 *
 *  The file is `token` in the first of these folders that can be there:
 *
 *      $XDG_STATE_HOME/muster
 *      $HOME/.local/state/muster
 *      $XDG_RUNTIME_DIR/muster
 *      /tmp/muster-UID
 *
 *  The folder is its owner's alone too; of what is on the way to it nothing is asked. */
#ifndef MUSTER_TRANSPORT_USER_TOKEN_H
#define MUSTER_TRANSPORT_USER_TOKEN_H

#include "transport/cluster_key.h"

/** Reads the token, and makes it where there is none. MST_INVALID where the folder or the file is another's, can be
 *  used by others, is a symbolic link, or where the file has no 32 bytes; MST_IO. Wipe OUT after use. */
MST_CHECKED mst_status mst_user_token_read(mst_cluster_keys *out);

#endif
