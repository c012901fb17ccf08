/** The state of a task as bytes, sent to a task that comes back without its state.
 *
 *      "MSTS", version 1      4 bytes, 4
 *      entries, notes         8, 8: numbers of them
 *      for each entry         kind 4, dtype 4, ndim 8, dimensions 8 each, container, name, value
 *      for each note          key, text
 *
 *  Container, name, value, key and text are each 8 bytes of length and that many bytes, then zeros up to a multiple of
 *  8. Numbers are little-endian. Values are as in memory: all tasks of a cluster have the same type of processor. */
#ifndef MUSTER_MESSAGES_STATE_MESSAGE_H
#define MUSTER_MESSAGES_STATE_MESSAGE_H

#include "muster/store.h"

/** Encodes all of SNAPSHOT. The caller frees *OUT with free(). */
MST_CHECKED mst_status mst_state_message_encode(const mst_snapshot *snapshot, void **out, size_t *bytes);
/** Decodes a snapshot; *OUT belongs to the caller. MST_CORRUPT if DATA is not a snapshot. */
MST_CHECKED mst_status mst_state_message_decode(const void *data, size_t bytes, mst_snapshot **out);
/** A hash of all entries and their values except "random/runs". That one may differ between tasks, since each counts
 *  its own runs there. Two states with the same hash are taken to be equal. */
uint64_t mst_state_hash(const mst_snapshot *snapshot);
/** As mst_state_hash, but only of the entries of KINDS: bits, 1 << mst_state_kind. */
uint64_t mst_state_hash_of(const mst_snapshot *snapshot, unsigned kinds);

#endif
