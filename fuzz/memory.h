/** Memory that one input takes. A target is a function that reads an input, and FUZZ(FUNCTION, MULTIPLE, FIXED): where
 *  reading n bytes has more than MULTIPLE * n + FIXED bytes allocated at once, that is a finding. FIXED is for buffers,
 *  tables and contexts of libraries, which do not depend on the input. A target that ends prints the largest multiple
 *  there was. */
#ifndef MUSTER_FUZZ_MEMORY_H
#define MUSTER_FUZZ_MEMORY_H

#include <sanitizer/allocator_interface.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** The memory that bytes can take which have been compressed by deflate: 1032 for one, and twice that while they are
 *  copied to a larger block (zlib's "Maximum Compression Factor"). */
#define FUZZ_INFLATED 2064

static struct {
    atomic_bool counts;
    atomic_llong now, most; /* of this input */
    double multiple;        /* the largest so far */
} fuzz_memory;

static void fuzz_count_malloc(const volatile void *block, size_t size) {
    (void)block;
    if (!fuzz_memory.counts) return;
    const long long now = atomic_fetch_add(&fuzz_memory.now, (long long)size) + (long long)size;
    long long most = fuzz_memory.most;
    while (now > most && !atomic_compare_exchange_weak(&fuzz_memory.most, &most, now)) continue;
}

static void fuzz_count_free(const volatile void *block) {
    if (fuzz_memory.counts && block)
        atomic_fetch_sub(&fuzz_memory.now, (long long)__sanitizer_get_allocated_size((const void *)block));
}

static void fuzz_print_memory(void) {
    fprintf(stderr, "memory: at most %.1f times the input\n", fuzz_memory.multiple);
}

static void fuzz_measure(void (*read)(const uint8_t *data, size_t size), const uint8_t *data, size_t size,
                         double multiple, long long fixed) {
    static bool installed;
    if (!installed) {
        installed = __sanitizer_install_malloc_and_free_hooks(fuzz_count_malloc, fuzz_count_free) != 0;
        if (!installed || atexit(fuzz_print_memory)) abort();
    }
    fuzz_memory.now = fuzz_memory.most = 0;
    fuzz_memory.counts = true;
    read(data, size);
    fuzz_memory.counts = false;
    const double taken = (double)(fuzz_memory.most - fixed) / (double)(size ? size : 1);
    if (taken > fuzz_memory.multiple) fuzz_memory.multiple = taken;
    if (taken <= multiple) return;
    fprintf(stderr, "memory: %lld bytes for an input of %zu, at most %g times it and %lld bytes are due\n",
            (long long)fuzz_memory.most, size, multiple, fixed);
    abort();
}

#define FUZZ(function, multiple, fixed)                            \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);  \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { \
        fuzz_measure(function, data, size, multiple, fixed);       \
        return 0;                                                  \
    }

#endif
