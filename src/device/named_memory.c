#include "device/named_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t whole_pages(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return bytes ? (bytes + page - 1) / page * page : page;
}

bool mst_named_memory_reserve(size_t bytes, void **out) {
    *out = NULL;
    if (bytes > PTRDIFF_MAX) return false; /* larger than any array; rounding up to whole pages would overflow */
    *out = mmap(NULL, whole_pages(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (*out != MAP_FAILED) return true;
    *out = NULL;
    return false;
}

/* The number of values that end at DATA or before it. */
static int64_t count_before(const mst_named_memory *memory, const char *data) {
    int64_t low = 0, high = memory->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (memory->value[middle].data + memory->value[middle].bytes <= data)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Replaces all values that have one of the BYTES from DATA on by the COUNT values of NEW, one or none. The table must
 * have room. */
static void replace_values(mst_named_memory *memory, const char *data, size_t bytes, const mst_named_value *new,
                           int64_t count) {
    const int64_t first = count_before(memory, data);
    int64_t end = first;
    for (; end < memory->count && memory->value[end].data < data + bytes; end++)
        memory->release(memory->value[end].value);
    if (end != first + count && end < memory->count)
        memmove(&memory->value[first + count], &memory->value[end],
                (size_t)(memory->count - end) * sizeof *memory->value);
    if (count) memory->value[first] = *new;
    memory->count += first + count - end;
}

void mst_named_memory_free(mst_named_memory *memory, void *data, size_t bytes) {
    replace_values(memory, data, whole_pages(bytes), NULL, 0);
    munmap(data, whole_pages(bytes));
}

bool mst_named_memory_put(mst_named_memory *memory, void *data, size_t bytes, void *value) {
    enum { FIRST_CAPACITY = 64 };
    const mst_named_value new = {.data = data, .bytes = bytes ? bytes : 1, .value = value};
    if (memory->count == memory->capacity) {
        const int64_t capacity = memory->capacity ? 2 * memory->capacity : FIRST_CAPACITY;
        mst_named_value *grown = realloc(memory->value, (size_t)capacity * sizeof *grown);
        if (!grown) return false;
        memory->value = grown;
        memory->capacity = capacity;
    }
    replace_values(memory, new.data, new.bytes, &new, 1);
    return true;
}

void *mst_named_memory_at(const mst_named_memory *memory, const void *data) {
    const int64_t i = count_before(memory, data);
    return i < memory->count && memory->value[i].data == data ? memory->value[i].value : NULL;
}

void *mst_named_memory_take(mst_named_memory *memory, const void *data) {
    void *value = mst_named_memory_at(memory, data);
    if (!value) return NULL;
    const int64_t i = count_before(memory, data);
    memmove(&memory->value[i], &memory->value[i + 1], (size_t)(--memory->count - i) * sizeof *memory->value);
    return value;
}
