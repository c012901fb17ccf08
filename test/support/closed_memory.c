#include "support/closed_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct block {
    void *data;
    size_t bytes;
    struct block *next;
} block;

typedef struct closed_domain {
    mst_domain domain; /* first: it is found by its domain */
    block *blocks;
    struct closed_domain *next;
} closed_domain;

static const mst_registrar *host;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a domain is open */
static closed_domain *domains;

static mst_status no_memory(size_t bytes);

static mst_status protect(const closed_domain *x, int rights) {
    for (const block *b = x->blocks; b; b = b->next)
        if (mprotect(b->data, b->bytes, rights))
            return host->error_set(MST_INTERNAL, __FILE__, __LINE__, "%s %d: mprotect failed", x->domain.type->name,
                                   x->domain.index);
    return MST_OK;
}

/* ---- the type of domain ---- */

static size_t whole_pages(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return bytes ? (bytes + page - 1) / page * page : page;
}

static mst_status closed_alloc(mst_domain *domain, size_t bytes, void **out) {
    closed_domain *x = (closed_domain *)domain;
    *out = NULL;
    block *b = malloc(sizeof *b);
    if (!b) return no_memory(sizeof *b);
    b->bytes = whole_pages(bytes);
    b->data = mmap(NULL, b->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->data == MAP_FAILED) {
        free(b);
        return no_memory(bytes);
    }
    pthread_mutex_lock(&lock);
    b->next = x->blocks;
    x->blocks = b;
    pthread_mutex_unlock(&lock);
    *out = b->data;
    return MST_OK;
}

static void closed_free(mst_domain *domain, void *data, size_t bytes) {
    closed_domain *x = (closed_domain *)domain;
    (void)bytes;
    pthread_mutex_lock(&lock);
    for (block **at = &x->blocks; *at; at = &(*at)->next) {
        block *b = *at;
        if (b->data != data) continue;
        *at = b->next;
        munmap(b->data, b->bytes);
        free(b);
        break;
    }
    pthread_mutex_unlock(&lock);
}

static mst_status closed_copy(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes) {
    mst_status status = MST_OK;
    pthread_mutex_lock(&lock);
    if (!to->type->host) status = protect((closed_domain *)to, PROT_READ | PROT_WRITE);
    if (!status && !from->type->host) status = protect((closed_domain *)from, PROT_READ | PROT_WRITE);
    if (!status) memcpy(dst, src, bytes);
    if (!to->type->host && protect((closed_domain *)to, PROT_NONE)) status = MST_INTERNAL;
    if (!from->type->host && protect((closed_domain *)from, PROT_NONE)) status = MST_INTERNAL;
    pthread_mutex_unlock(&lock);
    return status;
}

static mst_domain_type domain_type = {
    .size = sizeof(mst_domain_type), .alloc = closed_alloc, .free = closed_free, .copy = closed_copy};

static mst_status no_memory(size_t bytes) {
    return host->error_set(MST_OUT_OF_MEMORY, __FILE__, __LINE__, "%s: cannot get %zu bytes of memory",
                           domain_type.name, bytes);
}

/* ---- what modules call ---- */

void closed_memory_begin(const char *name, const mst_registrar *registrar) {
    domain_type.name = name;
    host = registrar;
}

mst_status closed_memory_find(int index, mst_domain **out) {
    pthread_mutex_lock(&lock);
    closed_domain *x = domains;
    while (x && x->domain.index != index) x = x->next;
    if (!x && (x = calloc(1, sizeof *x))) {
        x->domain = (mst_domain){.type = &domain_type, .index = index};
        x->next = domains;
        domains = x;
    }
    pthread_mutex_unlock(&lock);
    *out = x ? &x->domain : NULL;
    return x ? MST_OK : no_memory(sizeof *x);
}

mst_status closed_memory_open(mst_domain *domain) {
    pthread_mutex_lock(&lock);
    const mst_status status = protect((closed_domain *)domain, PROT_READ | PROT_WRITE);
    if (!status) return MST_OK;
    const mst_status closed = closed_memory_close(domain);
    return closed ? closed : status;
}

mst_status closed_memory_close(mst_domain *domain) {
    const mst_status status = protect((closed_domain *)domain, PROT_NONE);
    pthread_mutex_unlock(&lock);
    return status;
}

bool closed_memory_has(const mst_domain *domain, const void *data, size_t bytes) {
    const char *begin = data;
    for (const block *b = ((const closed_domain *)domain)->blocks; b; b = b->next) {
        const char *first = b->data;
        if (begin >= first && begin < first + b->bytes) return bytes <= (size_t)(first + b->bytes - begin);
    }
    return false;
}
