/* Copies strings from one memory domain to another. The elements, {address, length}, are copied into the host's
 * memory, then the bytes of each string after them. The addresses are set to where the bytes will lie. Then elements
 * and bytes are copied to the destination, each in one piece.
 *
 * Bytes of received strings lie in blocks that last for a step. If a step needed several blocks, the next step begins
 * with one block that is as large as all of them. So after a few steps no step has to allocate. */
#include "run/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/byte_count.h"
#include "base/no_memory.h"
#include "tensor/buffer.h"
#include "tensor/string.h"

typedef struct mst_string_block {
    struct mst_string_block *next;
    char *data;
    size_t bytes, used;
} block;

/* ---- memory ---- */

static void free_blocks(mst_string_memory *memory, mst_domain *domain) {
    for (block *b = memory->blocks, *next; b; b = next) {
        next = b->next;
        domain->type->free(domain, b->data, b->bytes);
        free(b);
    }
    memory->blocks = NULL;
    memory->bytes = 0;
}

static mst_status add_block(mst_string_memory *memory, mst_domain *domain, size_t bytes) {
    char have[MST_BYTES_TEXT], limit[MST_BYTES_TEXT];
    void *data;
    if ((int64_t)bytes > memory->most - memory->bytes)
        return MST_FAIL(MST_OUT_OF_MEMORY,
                        "the strings that it receives take %s and more, its memory limit leaves %s: raise the limit",
                        mst_bytes_print(memory->bytes + (int64_t)bytes, have, sizeof have),
                        mst_bytes_print(memory->most, limit, sizeof limit));
    block *b = malloc(sizeof *b);
    if (!b) return MST_NO_MEMORY("for strings");
    mst_status status = domain->type->alloc(domain, bytes, &data);
    if (status) {
        free(b);
        return status;
    }
    *b = (block){.next = memory->blocks, .data = data, .bytes = bytes};
    memory->blocks = b;
    memory->bytes += (int64_t)bytes;
    return MST_OK;
}

/* Sets *OUT to room for BYTES. It does not move until the step ends. */
static mst_status strings_take(mst_string_memory *memory, mst_domain *domain, size_t bytes, char **out) {
    enum { LEAST = 4096 };
    block *b = memory->blocks;
    if (!b || bytes > b->bytes - b->used) {
        MST_TRY(add_block(memory, domain, mst_align(bytes > LEAST ? bytes : LEAST)));
        b = memory->blocks;
    }
    *out = b->data + b->used;
    b->used += bytes;
    return MST_OK;
}

bool mst_string_memory_is_split(const mst_string_memory *memory) {
    return memory->blocks && memory->blocks->next;
}

void mst_string_memory_join(mst_string_memory *memory, mst_domain *domain, int64_t most) {
    const size_t bytes = (size_t)memory->bytes;
    memory->most = most;
    free_blocks(memory, domain);
    (void)add_block(memory, domain, bytes); /* if this fails, the step allocates what it needs */
}

void mst_string_memory_begin(mst_string_memory *memory, int64_t most) {
    memory->most = most;
    for (block *b = memory->blocks; b; b = b->next) b->used = 0;
}

void mst_string_memory_free(mst_string_memory *memory, mst_domain *domain) {
    free_blocks(memory, domain);
    free(memory->host);
    *memory = (mst_string_memory){0};
}

static mst_status reserve_host(mst_string_memory *memory, size_t bytes) {
    if (bytes <= memory->host_bytes) return MST_OK;
    char *larger = realloc(memory->host, bytes);
    if (!larger) return MST_NO_MEMORY("for strings");
    memory->host = larger;
    memory->host_bytes = bytes;
    return MST_OK;
}

/* ---- copying ---- */

static size_t length_of_all(const mst_string *string, int64_t count) {
    size_t length = 0;
    for (int64_t i = 0; i < count; i++) length += string[i].length;
    return length;
}

mst_status mst_strings_receive(mst_string_memory *memory, mst_domain *to, void *dst, mst_domain *from, const void *src,
                               int64_t count, int64_t *copied) {
    const size_t size = (size_t)count * sizeof(mst_string);
    char *there;
    *copied = 0;
    if (count == 0) return MST_OK;
    MST_TRY(reserve_host(memory, size));
    MST_TRY(mst_domain_copy(&mst_domain_host, memory->host, from, src, size));
    const size_t length = length_of_all((const mst_string *)(void *)memory->host, count);
    MST_TRY(reserve_host(memory, size + length)); /* this keeps the elements */
    MST_TRY(strings_take(memory, to, length, &there));
    mst_string *string = (mst_string *)(void *)memory->host;
    char *bytes = memory->host + size, *at = bytes;
    for (int64_t i = 0; i < count; at += string[i++].length) {
        MST_TRY(mst_domain_copy(&mst_domain_host, at, from, string[i].data, string[i].length));
        string[i].data = there + (at - bytes);
    }
    MST_TRY(mst_domain_copy(to, there, &mst_domain_host, bytes, length));
    MST_TRY(mst_domain_copy(to, dst, &mst_domain_host, string, size));
    *copied = (int64_t)(size + length);
    return MST_OK;
}

mst_status mst_strings_pack(mst_domain *from, const void *src, int64_t count, char **out, size_t *bytes) {
    const size_t size = (size_t)count * sizeof(mst_string);
    *out = NULL;
    mst_string *string = malloc(size + 1);
    if (!string) return MST_NO_MEMORY("for strings");
    mst_status status = mst_domain_copy(&mst_domain_host, string, from, src, size);
    if (!status) {
        *bytes = (size_t)count * sizeof(uint64_t) + length_of_all(string, count);
        if (!(*out = malloc(*bytes + 1))) status = MST_NO_MEMORY("for strings");
    }
    char *at = status ? NULL : *out + (size_t)count * sizeof(uint64_t);
    for (int64_t i = 0; i < count && !status; at += string[i++].length) {
        const uint64_t length = string[i].length;
        memcpy(*out + (size_t)i * sizeof length, &length, sizeof length);
        status = mst_domain_copy(&mst_domain_host, at, from, string[i].data, string[i].length);
    }
    free(string);
    if (!status) return MST_OK;
    free(*out);
    *out = NULL;
    return status;
}

mst_status mst_strings_unpack(mst_string_memory *memory, mst_domain *to, void *dst, const void *message, size_t bytes,
                              int64_t count) {
    const size_t size = (size_t)count * sizeof(mst_string), head = (size_t)count * sizeof(uint64_t);
    const char *from = message;
    size_t length = bytes >= head ? bytes - head : 0, left = length;
    char *there;
    if (bytes < head) return MST_FAIL(MST_INVALID, "a message of %zu bytes is too short for its strings", bytes);
    if (count == 0) return MST_OK;
    MST_TRY(reserve_host(memory, size));
    MST_TRY(strings_take(memory, to, length, &there));
    mst_string *string = (mst_string *)(void *)memory->host;
    for (int64_t i = 0; i < count; i++) {
        uint64_t one;
        memcpy(&one, from + (size_t)i * sizeof one, sizeof one);
        if (one > left) return MST_FAIL(MST_INVALID, "a string of a message is longer than the message");
        string[i] = (mst_string){.data = there + (length - left), .length = (size_t)one};
        left -= (size_t)one;
    }
    MST_TRY(mst_domain_copy(to, there, &mst_domain_host, from + head, length));
    return mst_domain_copy(to, dst, &mst_domain_host, string, size);
}

static mst_status fetch_one(mst_tensor *output, int64_t i, mst_domain *from, mst_string string) {
    char *data = NULL;
    if (string.length) {
        if (!(data = malloc(string.length + 1))) return MST_NO_MEMORY("for a string of %zu bytes", string.length);
        const mst_status status = mst_domain_copy(&mst_domain_host, data, from, string.data, string.length);
        if (status) {
            free(data);
            return status;
        }
        data[string.length] = '\0';
    }
    mst_tensor_take_string(output, i, data, string.length);
    return MST_OK;
}

mst_status mst_strings_fetch(mst_tensor *output, mst_domain *from, const void *src, int64_t *copied) {
    const int64_t count = mst_tensor_count(output);
    const size_t size = mst_tensor_bytes(output);
    *copied = 0;
    if (count == 0) return MST_OK;
    mst_string *string = malloc(size);
    if (!string) return MST_NO_MEMORY("for strings");
    mst_status status = mst_domain_copy(&mst_domain_host, string, from, src, size);
    for (int64_t i = 0; i < count && !status; i++) status = fetch_one(output, i, from, string[i]);
    if (!status) *copied = (int64_t)(size + length_of_all(string, count));
    free(string);
    return status;
}

mst_status mst_strings_place(mst_domain *to, void *dst, const mst_tensor *constant) {
    const int64_t count = mst_tensor_count(constant);
    const size_t size = mst_tensor_bytes(constant), all = mst_tensor_all_bytes(constant);
    const mst_string *from = mst_tensor_data(constant);
    if (count == 0) return MST_OK;
    char *host = malloc(all);
    if (!host) return MST_NO_MEMORY("for strings");
    mst_string *string = (mst_string *)(void *)host;
    size_t at = size;
    for (int64_t i = 0; i < count; at += from[i++].length) {
        string[i] = (mst_string){.data = (char *)dst + at, .length = from[i].length};
        if (from[i].length) memcpy(host + at, from[i].data, from[i].length);
    }
    const mst_status status = mst_domain_copy(to, dst, &mst_domain_host, host, all);
    free(host);
    return status;
}
