/** Packets on the links of shared memory (transport/shm.h), between two processes of one machine. They are sent in the
 *  form that they have in memory. A file descriptor may go along with one. */
#ifndef MUSTER_TRANSPORT_SHM_PACKET_H
#define MUSTER_TRANSPORT_SHM_PACKET_H

#include <stdbool.h>

#include "transport/transport.h"

enum { MST_SHM_PLACES = 32, MST_SHM_BYTES = 8192 };

typedef enum mst_shm_kind {
    MST_SHM_HELLO = 1, /**< from, to, instance */
    MST_SHM_SMALL,     /**< key, bytes: a whole message of data */
    MST_SHM_DATA,      /**< key, number, file, places; with the descriptor of a file not yet used on this link */
    MST_SHM_DONE,      /**< number of the DATA packet */
    MST_SHM_GONE,      /**< file */
    MST_SHM_CONTROL,   /**< bytes: a control message */
    MST_SHM_KINDS
} mst_shm_kind;

/** A range of bytes in a file. */
typedef struct mst_shm_place {
    uint64_t offset, bytes;
} mst_shm_place;

/** Members that a kind does not use are 0. */
typedef struct mst_shm_packet {
    uint32_t kind, num_places, num_bytes;
    int32_t from, to;
    uint64_t instance;
    uint64_t number, file;
    mst_key key;
    union { /* only the part in use is sent */
        mst_shm_place place[MST_SHM_PLACES];
        unsigned char bytes[MST_SHM_BYTES];
    };
} mst_shm_packet;

/** Sends PACKET, and FD along with it (-1: none). False: the socket does not take it now, or is broken. */
bool mst_shm_packet_send(int socket, const mst_shm_packet *packet, int fd);
/** Sends PACKET with the N pieces, at most MST_SHM_PLACES, of num_bytes in all. */
bool mst_shm_packet_send_bytes(int socket, const mst_shm_packet *packet, const mst_iov *piece, int n);

typedef enum mst_shm_arrival {
    MST_SHM_NOTHING, /**< nothing has come */
    MST_SHM_PACKET,
    MST_SHM_WRONG, /**< something other than a packet has come */
    MST_SHM_ENDED  /**< the other end is closed, and everything that it has sent is read */
} mst_shm_arrival;

/** Takes the next packet, and the file descriptor that came with it (-1: none), which now belongs to the caller. A
 *  packet with more than one descriptor is MST_SHM_WRONG. Does not wait. */
mst_shm_arrival mst_shm_packet_receive(int socket, mst_shm_packet *out, int *fd);

/** Writes the bytes of all places of PACKET to *OUT; false if they do not all lie in a file of SIZE bytes. */
bool mst_shm_packet_total(const mst_shm_packet *packet, size_t size, size_t *out);

#endif
