/** The token of a user: 32 random bytes in a file that only this user can read, made when it is first needed. Tasks at
 *  loopback addresses without a cluster key prove to each other that they have it. Other users of the machine therefore
 *  can neither connect nor pretend to be a task.
 *
 *  The file is `token` in the first of these folders that exists or can be made:
 *
 *      $XDG_STATE_HOME/muster
 *      $HOME/.local/state/muster
 *      $XDG_RUNTIME_DIR/muster
 *      /tmp/muster-UID
 *
 *  The folder too belongs to its owner alone; the folders above it are not checked. */
#ifndef MUSTER_TRANSPORT_USER_TOKEN_H
#define MUSTER_TRANSPORT_USER_TOKEN_H

#include "transport/cluster_key.h"

/** Reads the token, and makes it if there is none. MST_INVALID if the folder or the file belongs to another user, can
 *  be used by others, or is a symbolic link. Also MST_INVALID if the file does not have 32 bytes; MST_IO. Wipe OUT
 *  after use. */
MST_CHECKED mst_status mst_user_token_read(mst_cluster_keys *out);

#endif
