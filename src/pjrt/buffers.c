#include "pjrt/buffers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "device/named_memory.h"
#include "pjrt/under_way.h"

struct mst_pjrt_buffer {
    _Atomic int references;
    const PJRT_Api *api;
    PJRT_Buffer *buffer;
    PJRT_Buffer_Type type;
    int64_t count;
    mst_pjrt_job *maker;
};

/* The memory of one logical device: its domain, and the table of its buffers. */
typedef struct device_memory {
    mst_domain domain; /* first member, so a pointer to the domain points to the device_memory too */
    mst_pjrt_client *client;
    PJRT_Device *device;
    pthread_mutex_t lock; /* guards `names` */
    mst_named_memory names;
    struct device_memory *next;
} device_memory;

static pthread_mutex_t memories_lock = PTHREAD_MUTEX_INITIALIZER;
static device_memory *memories;

/* ---- buffers ---- */

PJRT_Buffer_Type mst_pjrt_type(mst_dtype dtype) {
    switch (dtype) {
        case MST_F32: return PJRT_Buffer_Type_F32;
        case MST_F64: return PJRT_Buffer_Type_F64;
        case MST_BF16: return PJRT_Buffer_Type_BF16;
        case MST_I32: return PJRT_Buffer_Type_S32;
        case MST_I64: return PJRT_Buffer_Type_S64;
        case MST_U8: return PJRT_Buffer_Type_U8;
        case MST_BOOL: return PJRT_Buffer_Type_PRED;
        default: return PJRT_Buffer_Type_INVALID;
    }
}

static size_t element_size(PJRT_Buffer_Type type) {
    switch (type) {
        case PJRT_Buffer_Type_F64:
        case PJRT_Buffer_Type_S64: return 8;
        case PJRT_Buffer_Type_BF16: return 2;
        case PJRT_Buffer_Type_U8:
        case PJRT_Buffer_Type_PRED: return 1;
        default: return 4;
    }
}

void mst_pjrt_buffer_drop(const PJRT_Api *api, PJRT_Buffer *buffer) {
    PJRT_Buffer_Destroy_Args args = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE, .buffer = buffer};
    mst_pjrt_error_drop(api, api->PJRT_Buffer_Destroy(&args));
}

mst_pjrt_buffer *mst_pjrt_buffer_wrap(const PJRT_Api *api, PJRT_Buffer *buffer, PJRT_Buffer_Type type, int64_t count,
                                      mst_pjrt_job *maker) {
    mst_pjrt_buffer *x = malloc(sizeof *x);
    if (!x) {
        mst_pjrt_buffer_drop(api, buffer);
        return NULL;
    }
    *x = (mst_pjrt_buffer){.references = 1, .api = api, .buffer = buffer, .type = type, .count = count};
    x->maker = mst_pjrt_job_retain(maker);
    return x;
}

mst_status mst_pjrt_buffer_make(mst_domain *domain, const void *data, PJRT_Buffer_Type type, int ndim,
                                const int64_t *dim, mst_pjrt_buffer **out) {
    const device_memory *memory = (const device_memory *)domain;
    const PJRT_Api *api = memory->client->api;
    int64_t count = 1;
    for (int i = 0; i < ndim; i++) count *= dim[i];
    PJRT_Client_BufferFromHostBuffer_Args args = {
        .struct_size = PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE,
        .client = memory->client->client,
        .data = data,
        .type = type,
        .dims = dim,
        .num_dims = (size_t)ndim,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = memory->device};
    MST_TRY(mst_pjrt_check(api, api->PJRT_Client_BufferFromHostBuffer(&args), "copying to the device"));
    mst_pjrt_event_drop(api, args.done_with_host_buffer);
    *out = mst_pjrt_buffer_wrap(api, args.buffer, type, count, NULL);
    return *out ? MST_OK : MST_NO_MEMORY("for a buffer");
}

void mst_pjrt_buffer_release(mst_pjrt_buffer *x) {
    if (!x || atomic_fetch_sub(&x->references, 1) > 1) return;
    mst_pjrt_buffer_drop(x->api, x->buffer);
    mst_pjrt_job_release(x->maker);
    free(x);
}

mst_pjrt_job *mst_pjrt_buffer_maker(const mst_pjrt_buffer *x) {
    return x->maker;
}

PJRT_Buffer *mst_pjrt_buffer_get(const mst_pjrt_buffer *x) {
    return x->buffer;
}

size_t mst_pjrt_buffer_bytes(const mst_pjrt_buffer *x) {
    return (size_t)x->count * element_size(x->type);
}

/* ---- names ---- */

mst_pjrt_buffer *mst_pjrt_buffer_at(mst_domain *domain, const void *data) {
    device_memory *memory = (device_memory *)domain;
    pthread_mutex_lock(&memory->lock);
    mst_pjrt_buffer *out = mst_named_memory_at(&memory->names, data);
    if (out) atomic_fetch_add(&out->references, 1);
    pthread_mutex_unlock(&memory->lock);
    return out;
}

mst_pjrt_buffer *mst_pjrt_buffer_take(mst_domain *domain, const void *data) {
    device_memory *memory = (device_memory *)domain;
    pthread_mutex_lock(&memory->lock);
    mst_pjrt_buffer *out = mst_named_memory_at(&memory->names, data);
    if (out) out = atomic_load(&out->references) == 1 ? mst_named_memory_take(&memory->names, data) : NULL;
    pthread_mutex_unlock(&memory->lock);
    return out;
}

mst_status mst_pjrt_buffer_put(mst_domain *domain, void *data, mst_pjrt_buffer *buffer) {
    device_memory *memory = (device_memory *)domain;
    pthread_mutex_lock(&memory->lock);
    /* before the put, which may release the same buffer if it is at this address already */
    atomic_fetch_add(&buffer->references, 1);
    const bool done = mst_named_memory_put(&memory->names, data, mst_pjrt_buffer_bytes(buffer), buffer);
    if (!done) atomic_fetch_sub(&buffer->references, 1); /* the caller still has one */
    pthread_mutex_unlock(&memory->lock);
    return done ? MST_OK : MST_NO_MEMORY("for the name of a value");
}

static void release_value(void *value) {
    mst_pjrt_buffer_release(value);
}

static mst_status reserve(mst_domain *domain, size_t bytes, void **out) {
    if (mst_named_memory_reserve(bytes, out)) return MST_OK;
    return MST_FAIL(MST_OUT_OF_MEMORY, "%s: cannot reserve %zu bytes of addresses", domain->type->name, bytes);
}

static void give_back(mst_domain *domain, void *data, size_t bytes) {
    device_memory *memory = (device_memory *)domain;
    pthread_mutex_lock(&memory->lock);
    mst_named_memory_free(&memory->names, data, bytes);
    pthread_mutex_unlock(&memory->lock);
}

/* ---- copies ---- */

static mst_status check_array(const mst_array *array) {
    int64_t count = 1;
    for (int i = 0; i < array->shape.ndim; i++) count *= array->shape.dim[i];
    if (count == array->count && mst_pjrt_type(array->dtype) != PJRT_Buffer_Type_INVALID) return MST_OK;
    return MST_FAIL(MST_INTERNAL, "a copy of %lld elements, which are no whole array of their shape",
                    (long long)array->count);
}

static mst_status copy_in(mst_domain *to, const mst_array *dst, const mst_array *src) {
    mst_pjrt_buffer *x;
    MST_TRY(check_array(dst));
    if (src->count != dst->count) return MST_FAIL(MST_INTERNAL, "a copy of a part of an array");
    MST_TRY(mst_pjrt_buffer_make(to, src->data, mst_pjrt_type(dst->dtype), dst->shape.ndim, dst->shape.dim, &x));
    const mst_status status = mst_pjrt_buffer_put(to, dst->data, x);
    mst_pjrt_buffer_release(x);
    return status;
}

static mst_status find_source(mst_domain *from, const mst_array *src, mst_pjrt_buffer **out) {
    MST_TRY(check_array(src));
    *out = mst_pjrt_buffer_at(from, src->data);
    if (!*out) return MST_FAIL(MST_INTERNAL, "%s: there is nothing at the address of a copy", from->type->name);
    if ((*out)->count == src->count && (*out)->type == mst_pjrt_type(src->dtype)) return MST_OK;
    mst_pjrt_buffer_release(*out);
    return MST_FAIL(MST_INTERNAL, "%s: a copy of a part of an array", from->type->name);
}

/* Starts to copy X to TO in row-major order, whatever the layout on the device is. EVENT reports the end. */
static mst_status start_copy_out(const mst_pjrt_buffer *x, const mst_shape *shape, void *to, PJRT_Event **event) {
    int64_t order[MST_MAX_NDIM + 1];
    for (int i = 0; i < shape->ndim; i++) order[i] = shape->ndim - 1 - i;
    PJRT_Buffer_MemoryLayout layout = {.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
                                       .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
                                       .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                                                 .minor_to_major = order,
                                                 .minor_to_major_size = (size_t)shape->ndim}};
    PJRT_Buffer_ToHostBuffer_Args args = {.struct_size = PJRT_Buffer_ToHostBuffer_Args_STRUCT_SIZE,
                                          .src = x->buffer,
                                          .host_layout = &layout,
                                          .dst = to,
                                          .dst_size = mst_pjrt_buffer_bytes(x)};
    MST_TRY(mst_pjrt_check(x->api, x->api->PJRT_Buffer_ToHostBuffer(&args), "copying to the host"));
    *event = args.event;
    return MST_OK;
}

/* Waits for a copy that has been started to the memory of JOBS, then copies its BYTES to TO. */
static mst_status finish_copy_out(mst_pjrt_jobs *jobs, void *to, size_t bytes, int64_t deadline) {
    if (!mst_pjrt_jobs_wait(jobs, deadline, false))
        return MST_FAIL(MST_DEADLINE, "waited too long for a value: it is stuck, or the timeout is too short");
    mst_pjrt_job *failed = mst_pjrt_jobs_first(jobs, MST_PJRT_FAILED);
    mst_status status = MST_OK;
    if (failed)
        status = mst_pjrt_job_report(failed, "copying to the host");
    else
        memcpy(to, mst_pjrt_jobs_memory(jobs), bytes);
    mst_pjrt_job_release(failed);
    return status;
}

/* The plugin writes to memory of the list of jobs, not to dst->data: the caller may free that after a deadline, while
 * the plugin still writes. */
static mst_status copy_out(const mst_array *dst, const mst_pjrt_buffer *x, int64_t deadline) {
    const size_t bytes = mst_pjrt_buffer_bytes(x);
    PJRT_Event *event;
    if (!bytes) return MST_OK;
    mst_pjrt_jobs *jobs = mst_pjrt_jobs_create(x->api, 1, bytes);
    mst_pjrt_job *job = jobs ? mst_pjrt_job_start(jobs, 0, -1, 0) : NULL;
    mst_status status = job ? start_copy_out(x, &dst->shape, mst_pjrt_jobs_memory(jobs), &event)
                            : MST_NO_MEMORY("for a copy to the host");
    if (!status) mst_pjrt_job_expect(job, event);
    if (job) mst_pjrt_job_launched(job);
    if (!status) status = finish_copy_out(jobs, dst->data, bytes, deadline);
    mst_pjrt_jobs_leave(jobs);
    return status;
}

/* For plugins that cannot copy between their devices. */
static mst_status copy_by_host(device_memory *to, const mst_array *dst, const mst_pjrt_buffer *x, int64_t deadline) {
    mst_array between = *dst;
    between.data = malloc(mst_pjrt_buffer_bytes(x) + 1);
    if (!between.data) return MST_NO_MEMORY("for a copy between devices");
    mst_status status = copy_out(&between, x, deadline);
    if (!status) status = copy_in(&to->domain, dst, &between);
    free(between.data);
    return status;
}

static mst_status copy_between(device_memory *to, const mst_array *dst, const mst_pjrt_buffer *x, int64_t deadline) {
    const PJRT_Api *api = x->api;
    PJRT_Buffer_CopyToDevice_Args args = {
        .struct_size = PJRT_Buffer_CopyToDevice_Args_STRUCT_SIZE, .buffer = x->buffer, .dst_device = to->device};
    if (!api->PJRT_Buffer_CopyToDevice) return copy_by_host(to, dst, x, deadline);
    PJRT_Error *error = api->PJRT_Buffer_CopyToDevice(&args);
    if (error) {
        char message[MST_PJRT_MESSAGE];
        const mst_status status = mst_pjrt_error_take(api, error, message);
        if (status == MST_UNIMPLEMENTED) return copy_by_host(to, dst, x, deadline);
        return MST_FAIL(status, "copying to %s %d: the plugin says: %s%s", to->domain.type->name, to->domain.index,
                        message, mst_pjrt_advice(status));
    }
    mst_pjrt_buffer *there = mst_pjrt_buffer_wrap(api, args.dst_buffer, x->type, x->count, x->maker);
    if (!there) return MST_NO_MEMORY("for a buffer");
    const mst_status status = mst_pjrt_buffer_put(&to->domain, dst->data, there);
    mst_pjrt_buffer_release(there);
    return status;
}

/* Copies from one device to another. Logical devices that share a device of the plugin share the buffer, because a
 * buffer never changes. */
static mst_status copy_over(mst_domain *to, const mst_array *dst, mst_domain *from, mst_pjrt_buffer *x,
                            int64_t deadline) {
    device_memory *there = (device_memory *)to;
    if (there->device == ((device_memory *)from)->device) return mst_pjrt_buffer_put(to, dst->data, x);
    return copy_between(there, dst, x, deadline);
}

static mst_status copy_array(mst_domain *to, const mst_array *dst, mst_domain *from, const mst_array *src,
                             int64_t deadline) {
    mst_pjrt_buffer *x;
    if (from->type->host) return copy_in(to, dst, src);
    MST_TRY(find_source(from, src, &x));
    const mst_status status = to->type->host ? copy_out(dst, x, deadline) : copy_over(to, dst, from, x, deadline);
    mst_pjrt_buffer_release(x);
    if (status) mst_pjrt_guard_work();
    return status;
}

/* ---- domains ---- */

static mst_status make_memory(mst_pjrt_client *client, int index, device_memory **out) {
    device_memory *x = calloc(1, sizeof *x);
    if (!x) return MST_NO_MEMORY("for a device");
    if (!client->memory.size)
        client->memory = (mst_domain_type){.size = sizeof client->memory,
                                           .name = client->kind->name,
                                           .alloc = reserve,
                                           .free = give_back,
                                           .copy_array = copy_array};
    x->domain = (mst_domain){.type = &client->memory, .index = index};
    x->client = client;
    x->device = mst_pjrt_client_device(client, index);
    x->names.release = release_value;
    pthread_mutex_init(&x->lock, NULL);
    x->next = memories;
    memories = x;
    *out = x;
    return MST_OK;
}

mst_status mst_pjrt_domain(mst_pjrt_client *client, int index, mst_domain **out) {
    *out = NULL;
    MST_TRY(mst_pjrt_client_need(client));
    pthread_mutex_lock(&memories_lock);
    device_memory *x = memories;
    while (x && (x->client != client || x->domain.index != index)) x = x->next;
    const mst_status status = x ? MST_OK : make_memory(client, index, &x);
    pthread_mutex_unlock(&memories_lock);
    if (!status) *out = &x->domain;
    return status;
}

mst_pjrt_client *mst_pjrt_domain_client(const mst_domain *domain) {
    return ((const device_memory *)domain)->client;
}

PJRT_Device *mst_pjrt_domain_device(const mst_domain *domain) {
    return ((const device_memory *)domain)->device;
}
