/** The key of a cluster: a file with 32 random bytes, the same for all tasks. Whoever has the key can join the cluster,
 *  so only its owner can read the file.
 *
 *      muster-cluster-key-1 <64 digits, 0-9a-f>
 *
 *  From the key every task derives the same two CURVE key pairs (Curve25519). One is for the side that listens, one for
 *  the side that connects. Each side proves to the other that it has its pair. */
#ifndef MUSTER_TRANSPORT_CLUSTER_KEY_H
#define MUSTER_TRANSPORT_CLUSTER_KEY_H

#include <stdbool.h>

#include "muster/op.h"
#include "muster/status.h"

enum { MST_CURVE_KEY = 32 };

typedef struct mst_curve_pair {
    unsigned char public_key[MST_CURVE_KEY], secret_key[MST_CURVE_KEY];
} mst_curve_pair;

/** Credentials of a connection: the key of a cluster, or the token of a user (transport/user_token.h). */
typedef struct mst_cluster_keys {
    mst_curve_pair listener, connector;
    bool is_token; /**< the token is set, and the pairs are unused */
    unsigned char token[MST_CURVE_KEY];
} mst_cluster_keys;

/** Writes a new key to the file PATH, which only its owner can read. MST_EXISTS if the file exists; MST_IO. Exported
 *  for the command. */
MST_API MST_CHECKED mst_status mst_cluster_key_create(const char *path);
/** Reads the keys of the file PATH. MST_INVALID if other users can use the file or own it, if it is a symbolic link, or
 *  if its contents are not a key; MST_NOT_FOUND, MST_IO. Wipe OUT after use (sodium_memzero). */
MST_CHECKED mst_status mst_cluster_key_read(const char *path, mst_cluster_keys *out);

#endif
