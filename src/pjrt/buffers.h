/** The memory of a plugin's devices: buffers, and the addresses that are their names.
 *
 *  A buffer never changes: to write a value is to put another buffer at its address. So a buffer may be at several
 *  addresses, also on several logical devices that share one device of the plugin. What a buffer will hold may still be
 *  computed: the plugin makes those wait that use it. */
#ifndef MUSTER_PJRT_BUFFERS_H
#define MUSTER_PJRT_BUFFERS_H

#include "pjrt/client.h"
#include "pjrt/jobs.h"

/** A buffer of the plugin, counted. */
typedef struct mst_pjrt_buffer mst_pjrt_buffer;

/** The domain of device INDEX of the type of CLIENT (device/device.h). Makes the client if necessary. */
MST_CHECKED mst_status mst_pjrt_domain(mst_pjrt_client *client, int index, mst_domain **out);
/** The client and the plugin's device of a domain. */
mst_pjrt_client *mst_pjrt_domain_client(const mst_domain *domain);
PJRT_Device *mst_pjrt_domain_device(const mst_domain *domain);

/** The type of elements of a dtype; PJRT_Buffer_Type_INVALID: there is none. */
PJRT_Buffer_Type mst_pjrt_type(mst_dtype dtype);

/** Frees BUFFER of the plugin. */
void mst_pjrt_buffer_drop(const PJRT_Api *api, PJRT_Buffer *buffer);
/** A buffer of what BUFFER of the plugin holds, COUNT elements of TYPE, which MAKER makes (NULL: nobody any more).
 *  Takes BUFFER even if there is no memory: then NULL. */
mst_pjrt_buffer *mst_pjrt_buffer_wrap(const PJRT_Api *api, PJRT_Buffer *buffer, PJRT_Buffer_Type type, int64_t count,
                                      mst_pjrt_job *maker);
/** A buffer with an array of the host's memory, which may change then. */
MST_CHECKED mst_status mst_pjrt_buffer_make(mst_domain *domain, const void *data, PJRT_Buffer_Type type, int ndim,
                                            const int64_t *dim, mst_pjrt_buffer **out);
/** NULL is allowed. */
void mst_pjrt_buffer_release(mst_pjrt_buffer *buffer);
PJRT_Buffer *mst_pjrt_buffer_get(const mst_pjrt_buffer *buffer);
/** The job that makes it; NULL: none, or not any more. */
mst_pjrt_job *mst_pjrt_buffer_maker(const mst_pjrt_buffer *buffer);
/** The bytes that an address of it takes. */
size_t mst_pjrt_buffer_bytes(const mst_pjrt_buffer *buffer);

/** The buffer at the address DATA, with a reference for the caller; NULL: there is none. */
mst_pjrt_buffer *mst_pjrt_buffer_at(mst_domain *domain, const void *data);
/** Takes the buffer at the address DATA away, for the caller; NULL: there is none, or somebody else has it too. */
mst_pjrt_buffer *mst_pjrt_buffer_take(mst_domain *domain, const void *data);
/** Puts BUFFER at the address DATA. What lies in its bytes is there no more. */
MST_CHECKED mst_status mst_pjrt_buffer_put(mst_domain *domain, void *data, mst_pjrt_buffer *buffer);

#endif
