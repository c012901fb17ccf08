/** The memory of a plugin's devices. A plugin gives no addresses, only buffers: immutable arrays. So the addresses in a
 *  plan are only names (device/named_memory.h): nothing is stored there, and a table maps each address to a buffer.
 *
 *  To write a value is to put another buffer at its address. One buffer may be at several addresses, also of several
 *  logical devices that share one device of the plugin. A buffer exists before its contents are computed: the plugin
 *  delays a program that reads it. */
#ifndef MUSTER_PJRT_BUFFERS_H
#define MUSTER_PJRT_BUFFERS_H

#include "pjrt/client.h"
#include "pjrt/jobs.h"

/** A buffer of the plugin, with a count of references. */
typedef struct mst_pjrt_buffer mst_pjrt_buffer;

/** Sets OUT to the domain of device INDEX of CLIENT's type of device (`domain` of mst_device_type, device/device.h).
 *  Makes the client if necessary. */
MST_CHECKED mst_status mst_pjrt_domain(mst_pjrt_client *client, int index, mst_domain **out);
/** The client and the plugin's device of a domain. */
mst_pjrt_client *mst_pjrt_domain_client(const mst_domain *domain);
PJRT_Device *mst_pjrt_domain_device(const mst_domain *domain);

/** PJRT's type for DTYPE; PJRT_Buffer_Type_INVALID if there is none. */
PJRT_Buffer_Type mst_pjrt_type(mst_dtype dtype);

/** Frees BUFFER of the plugin. */
void mst_pjrt_buffer_drop(const PJRT_Api *api, PJRT_Buffer *buffer);
/** Wraps BUFFER of the plugin, which has COUNT elements of TYPE. The result owns BUFFER and has one reference. MAKER is
 *  the job that computes the contents; NULL: they are computed. If there is no memory, frees BUFFER and returns
 *  NULL. */
mst_pjrt_buffer *mst_pjrt_buffer_wrap(const PJRT_Api *api, PJRT_Buffer *buffer, PJRT_Buffer_Type type, int64_t count,
                                      mst_pjrt_job *maker);
/** Makes a buffer on the device of DOMAIN with a copy of DATA, an array in the host's memory. DIM has its NDIM
 *  dimensions. */
MST_CHECKED mst_status mst_pjrt_buffer_make(mst_domain *domain, const void *data, PJRT_Buffer_Type type, int ndim,
                                            const int64_t *dim, mst_pjrt_buffer **out);
/** Drops a reference. NULL is allowed. */
void mst_pjrt_buffer_release(mst_pjrt_buffer *buffer);
PJRT_Buffer *mst_pjrt_buffer_get(const mst_pjrt_buffer *buffer);
/** The job that computes the contents of BUFFER; NULL: they are computed. */
mst_pjrt_job *mst_pjrt_buffer_maker(const mst_pjrt_buffer *buffer);
/** The number of bytes of BUFFER's elements, which is also the size of the range of addresses that it takes. */
size_t mst_pjrt_buffer_bytes(const mst_pjrt_buffer *buffer);

/** The buffer at the address DATA, with a reference for the caller; NULL: there is none. */
mst_pjrt_buffer *mst_pjrt_buffer_at(mst_domain *domain, const void *data);
/** Removes the buffer from the address DATA and gives it to the caller, if the table has the only reference. NULL:
 *  there are other references, or there is no buffer. */
mst_pjrt_buffer *mst_pjrt_buffer_take(mst_domain *domain, const void *data);
/** Puts BUFFER at the address DATA, with a reference of its own. Other buffers with bytes in the same range of
 *  addresses are removed. */
MST_CHECKED mst_status mst_pjrt_buffer_put(mst_domain *domain, void *data, mst_pjrt_buffer *buffer);

#endif
