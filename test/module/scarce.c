/* Not a module. Loaded before a program by LD_PRELOAD, it makes allocation number MUSTER_SCARCE and all later ones
 * fail. Allocations are counted from 1, from the start of main: those that libraries make before do not count. Needs
 * glibc's malloc. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *data, size_t size);

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static main_function *real_main;
static atomic_long left = -1; /* allocations that succeed; negative: all do */

static bool fails(void) {
    const long before = atomic_load(&left);
    if (before < 0) return false;
    if (before == 0) errno = ENOMEM; /* which the C library looks at itself, where it starts a thread */
    if (before == 0) return true;
    atomic_fetch_sub(&left, 1);
    return false;
}

__attribute__((visibility("default"))) void *malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size) {
    return fails() ? NULL : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *data, size_t size) {
    return fails() ? NULL : __libc_realloc(data, size);
}

static int scarce_main(int argc, char **argv, char **environment) {
    const char *number = getenv("MUSTER_SCARCE");
    if (number) atomic_store(&left, atol(number) - 1);
    const int status = real_main(argc, argv, environment);
    atomic_store(&left, -1);
    return status;
}

__attribute__((visibility("default"))) int __libc_start_main(main_function *main, int argc, char **argv,
                                                             void (*init)(void), void (*fini)(void),
                                                             void (*loader_fini)(void), void *stack_end);
int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end) {
    union {
        void *pointer;
        start_function *function;
    } start = {dlsym(RTLD_NEXT, "__libc_start_main")};
    real_main = main;
    return start.function(scarce_main, argc, argv, init, fini, loader_fini, stack_end);
}

#endif
