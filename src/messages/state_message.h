/** The state of a task as bytes, for a task that comes back without one.
 *
 *      "MSTS", version 1      4 bytes, 4
 *      entries, notes         8, 8: how many
 *      of each entry          kind 4, dtype 4, ndim 8, dimensions 8 each, container, name, value
 *      of each note           key, text
 *
 *  Container, name, value, key and text are 8 bytes of length and as many bytes, then zeros up to a multiple of 8.
 *  Numbers are little-endian, and values are as in memory: the tasks of a cluster have one type of processor. */
#ifndef MUSTER_MESSAGES_STATE_MESSAGE_H
#define MUSTER_MESSAGES_STATE_MESSAGE_H

#include "muster/store.h"

/** All of SNAPSHOT; *OUT is freed by the caller with free(). */
MST_CHECKED mst_status mst_state_message_encode(const mst_snapshot *snapshot, void **out, size_t *bytes);
/** The snapshot that was encoded, the caller's. MST_CORRUPT where DATA is none. */
MST_CHECKED mst_status mst_state_message_decode(const void *data, size_t bytes, mst_snapshot **out);
/** A hash of all entries and their values but "random/runs", the one that tasks may have unlike: each counts runs of
 *  its own there. Two states with one hash are taken for the same. */
uint64_t mst_state_hash(const mst_snapshot *snapshot);
/** The same of the entries of KINDS: bits, 1 << mst_state_kind. */
uint64_t mst_state_hash_of(const mst_snapshot *snapshot, unsigned kinds);

#endif
