#include "transport/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { SIZE_SEALS = F_SEAL_SHRINK | F_SEAL_GROW, BLOCK = 512 /* bytes: the unit of st_blocks */ };

static void *map(int fd, size_t size, int protection) {
    void *memory = mmap(NULL, size, protection, MAP_SHARED | MAP_POPULATE, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Allocates and maps all of FD, and then seals its size. If the kernel can (Linux 5.1), other processes may not map it
 * for writing. */
static bool fill_file(int fd, size_t size, mst_memory_file *out) {
    if (fallocate(fd, 0, 0, (off_t)size)) return false;
    void *memory = map(fd, size, PROT_READ | PROT_WRITE);
    if (!memory) return false;
    *out = (mst_memory_file){.floor = memory, .size = size, .fd = fd};
    if (!fcntl(fd, F_ADD_SEALS, SIZE_SEALS | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) return true;
    if (!fcntl(fd, F_ADD_SEALS, SIZE_SEALS | F_SEAL_SEAL)) return true;
    munmap(memory, size);
    return false;
}

mst_status mst_memory_file_make(size_t bytes, mst_memory_file *out) {
    if (bytes > PTRDIFF_MAX - MST_MEMORY_FILE_HEADER)
        return MST_FAIL(MST_OUT_OF_MEMORY, "no memory for %zu bytes that other processes can read", bytes);
    const int fd = memfd_create("muster", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return MST_FAIL(MST_UNAVAILABLE, "cannot make memory that other processes can read: %s", strerror(errno));
    if (fill_file(fd, MST_MEMORY_FILE_HEADER + bytes, out)) return MST_OK;
    const int error = errno;
    close(fd);
    return MST_FAIL(MST_OUT_OF_MEMORY, "no memory for %zu bytes that other processes can read: %s", bytes,
                    strerror(error));
}

/* Refuses a file that is not sealed or not completely allocated. If a page of the file was lost, or if there is no
 * memory for it, reading the page would end this process (SIGBUS). */
const char *mst_memory_file_map(int fd, mst_memory_file *out) {
    struct stat about;
    const int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & SIZE_SEALS) != SIZE_SEALS) return "the size of its memory is not sealed";
    if (fstat(fd, &about) || about.st_size < MST_MEMORY_FILE_HEADER) return "its memory has no header";
    if (about.st_blocks < about.st_size / BLOCK) return "its memory is not all allocated";
    void *memory = map(fd, (size_t)about.st_size, PROT_READ);
    if (!memory) return "its memory cannot be mapped";
    *out = (mst_memory_file){.floor = memory, .size = (size_t)about.st_size, .fd = -1};
    return NULL;
}

void mst_memory_file_unmap(mst_memory_file *file) {
    munmap((void *)(uintptr_t)file->floor, file->size);
    if (file->fd >= 0) close(file->fd);
}
