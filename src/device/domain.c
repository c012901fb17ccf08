/* The host's memory as a domain, copies between domains, and copies with several threads. */
#include "device/domain.h"

#include <string.h>

#include "muster/device.h"
#include "tensor/buffer.h"

static mst_status host_alloc(mst_domain *domain, size_t bytes, void **out) {
    (void)domain;
    return mst_pages_alloc(bytes, out);
}

static void host_free(mst_domain *domain, void *data, size_t bytes) {
    (void)domain;
    mst_pages_free(data, bytes);
}

static mst_status host_copy(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes) {
    (void)to, (void)from;
    if (bytes) memcpy(dst, src, bytes);
    return MST_OK;
}

static const mst_domain_type host_type = {.size = sizeof(mst_domain_type),
                                          .name = "host",
                                          .host = true,
                                          .alloc = host_alloc,
                                          .free = host_free,
                                          .copy = host_copy};

mst_domain mst_domain_host = {.type = &host_type};

/* Copies through a buffer in host memory, because the two types of domains cannot copy to each other. */
static mst_status copy_by_host(mst_domain *to, char *dst, mst_domain *from, const char *src, size_t bytes) {
    enum { CHUNK = 1 << 16 };
    char chunk[CHUNK];
    for (size_t done = 0; done < bytes; done += CHUNK) {
        const size_t size = bytes - done < CHUNK ? bytes - done : CHUNK;
        MST_TRY(from->type->copy(&mst_domain_host, chunk, from, src + done, size));
        MST_TRY(to->type->copy(to, dst + done, &mst_domain_host, chunk, size));
    }
    return MST_OK;
}

mst_status mst_domain_copy(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes) {
    if (!bytes) return MST_OK;
    if (!from->type->copy || !to->type->copy)
        return MST_FAIL(MST_INTERNAL, "a copy of bytes from %s to %s, whose memory has whole arrays", from->type->name,
                        to->type->name);
    if (from->type == to->type || from->type->host) return to->type->copy(to, dst, from, src, bytes);
    if (to->type->host) return from->type->copy(to, dst, from, src, bytes);
    return copy_by_host(to, dst, from, src, bytes);
}

/* Copies through the host's memory, because the two types of domains cannot copy to each other. */
static mst_status copy_array_by_host(mst_domain *to, const mst_array *dst, mst_domain *from, const mst_array *src,
                                     int64_t deadline) {
    mst_array between = *src;
    MST_TRY(mst_buffer_alloc((size_t)src->count * mst_dtype_size(src->dtype), &between.data));
    mst_status status = mst_domain_copy_array(&mst_domain_host, &between, from, src, deadline);
    if (!status) status = mst_domain_copy_array(to, dst, &mst_domain_host, &between, deadline);
    mst_buffer_free(between.data);
    return status;
}

mst_status mst_domain_copy_array(mst_domain *to, const mst_array *dst, mst_domain *from, const mst_array *src,
                                 int64_t deadline) {
    const mst_domain_type *type = to->type->copy_array ? to->type : from->type;
    if (!type->copy_array)
        return mst_domain_copy(to, dst->data, from, src->data, (size_t)src->count * mst_dtype_size(src->dtype));
    if (to->type == from->type || to->type->host || from->type->host)
        return type->copy_array(to, dst, from, src, deadline);
    return copy_array_by_host(to, dst, from, src, deadline);
}

size_t mst_domain_room(const mst_domain *domain, size_t bytes) {
    return mst_align(bytes ? bytes : domain->type->copy_array != NULL);
}

/* Two or three cores saturate a memory channel; machines with more cores have more channels. Starting a thread takes as
 * long as copying a few hundred kB. */
enum { MOST_COPIERS = 8, BYTES_PER_COPIER = 8 << 20 };

mst_status mst_copy_parallel(int64_t bytes, int64_t n, mst_team_body body, void *context) {
    int64_t threads = bytes / BYTES_PER_COPIER;
    if (threads > MOST_COPIERS) threads = MOST_COPIERS;
    if (threads > n) threads = n;
    if (threads > 1 && threads > mst_num_cores()) threads = mst_num_cores();
    mst_team *team = NULL;
    /* If threads cannot be started, the team is NULL. Then mst_team_run runs everything on the caller. */
    if (threads > 1) (void)!mst_team_create((int)threads, false, NULL, NULL, &team);
    const mst_status status = mst_team_run(team, n, 1, body, context);
    mst_team_destroy(team);
    return status;
}
