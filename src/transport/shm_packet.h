/** What goes over the links of shared memory (transport/shm.h): packets between two processes of one machine, in the
 *  form in which they are in memory. A file descriptor may go along with one. */
#ifndef MUSTER_TRANSPORT_SHM_PACKET_H
#define MUSTER_TRANSPORT_SHM_PACKET_H

#include <stdbool.h>

#include "transport/transport.h"

enum { MST_SHM_PLACES = 32, MST_SHM_BYTES = 8192 };

typedef enum mst_shm_kind {
    MST_SHM_HELLO = 1, /**< from, to, instance */
    MST_SHM_SMALL,     /**< key, bytes: a whole message of data */
    MST_SHM_DATA,      /**< key, number, file, places; with the file, where it is the first of this link from it */
    MST_SHM_DONE,      /**< number, of data */
    MST_SHM_GONE,      /**< file */
    MST_SHM_CONTROL,   /**< bytes: a control message */
    MST_SHM_KINDS
} mst_shm_kind;

/** Bytes of a file. */
typedef struct mst_shm_place {
    uint64_t offset, bytes;
} mst_shm_place;

/** What a kind does not use is 0. */
typedef struct mst_shm_packet {
    uint32_t kind, num_places, num_bytes;
    int32_t from, to;
    uint64_t instance;
    uint64_t number, file;
    mst_key key;
    union { /* only what is in use is sent */
        mst_shm_place place[MST_SHM_PLACES];
        unsigned char bytes[MST_SHM_BYTES];
    };
} mst_shm_packet;

/** Sends PACKET, and FD along with it (-1: none); false where the socket does not take it now, or never again. */
bool mst_shm_packet_send(int socket, const mst_shm_packet *packet, int fd);
/** Sends the N pieces, no more than MST_SHM_PLACES and of num_bytes in all, with PACKET. */
bool mst_shm_packet_send_bytes(int socket, const mst_shm_packet *packet, const mst_iov *piece, int n);

typedef enum mst_shm_arrival {
    MST_SHM_NOTHING, /**< nothing has come */
    MST_SHM_PACKET,
    MST_SHM_WRONG, /**< what has come is no packet */
    MST_SHM_ENDED  /**< the other end is closed, and all that it has sent is read */
} mst_shm_arrival;

/** Takes the next packet, and the file descriptor that came with it (-1: none), now the caller's. A packet with more
 *  than one descriptor is MST_SHM_WRONG. Does not wait. */
mst_shm_arrival mst_shm_packet_receive(int socket, mst_shm_packet *out, int *fd);

/** Bytes of all places of PACKET; false where they are not all in a file of SIZE bytes. */
bool mst_shm_packet_total(const mst_shm_packet *packet, size_t size, size_t *out);

#endif
