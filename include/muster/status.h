/** Status codes and the error record.
 *
 *  A function that can fail returns mst_status, or its comment says how it reports errors. The function that finds an
 *  error fills a record of the calling thread. Its callers add context while they return; mst_error() returns the
 *  record. The library never exits or aborts, and prints only where an option asks for it.
 *
 *  A pointer argument must not be NULL unless its function says that it may be. If one is NULL, the error is
 *  MST_INVALID and names function and argument ("mst_fit: model is NULL"). A function that returns no status then
 *  returns 0, NULL, "" or MST_NONE, and does nothing. An array may be NULL if none of its elements is used. Functions
 *  that release or destroy take NULL and do nothing.
 */
#ifndef MUSTER_STATUS_H
#define MUSTER_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Marks what the library exports. */
#define MST_API __attribute__((visibility("default")))
/** Marks a function whose result must not be ignored. */
#define MST_CHECKED __attribute__((warn_unused_result))

typedef enum mst_status {
    MST_OK = 0,
    MST_INVALID,       /**< an argument, option or input that cannot be right */
    MST_NOT_FOUND,     /**< a name, file or device that is not there */
    MST_EXISTS,        /**< a name that is taken */
    MST_OUT_OF_MEMORY, /**< the machine's memory or a device's limit */
    MST_UNIMPLEMENTED, /**< not supported by this version, such as a missing kernel or gradient */
    MST_IO,            /**< the operating system refused a read or a write */
    MST_CORRUPT,       /**< a file or message that is not as its format says; a value that is torn (mst_state_info) */
    MST_NUMERICS,      /**< NaN or Inf where a finite number is needed */
    MST_CANCELLED,     /**< stopped on request */
    MST_DEADLINE,      /**< waited as long as was allowed */
    MST_UNAVAILABLE,   /**< a peer or module that is not there now */
    MST_INTERNAL,      /**< a mistake of this library */
    MST_NUM_STATUS
} mst_status;

/** The record of a thread's last error. Strings are never NULL, and are valid until the thread's next error. */
typedef struct mst_error_info {
    mst_status code;
    const char *message; /**< one line: what, where, what to do */
    const char *file;    /**< source file in which the error was found */
    int line;
    const char *node;   /**< graph node, or "" */
    const char *device; /**< device name, or "" */
    const char *task;   /**< task of the device: "/job:localhost/replica:0/task:0", or "" */
} mst_error_info;

/** The last error of the calling thread; code is MST_OK if there was none. */
MST_API const mst_error_info *mst_error(void);

/** "invalid argument", "not found" and so on. */
MST_API const char *mst_status_name(mst_status code);

/** Fills the record of this thread and returns CODE. */
MST_API mst_status mst_error_set(mst_status code, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Puts context before the message ("reading 'x.npz': ...") and returns the record's code. */
MST_API mst_status mst_error_prefix(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Notes the node, and the device with its task, in the record (either may be NULL) and returns the record's code. */
MST_API mst_status mst_error_at(const char *node, const char *device);

/** Returns CODE, so that compilers and analysers see which code a failing path returns. */
static inline mst_status mst_error_code_(mst_status recorded, mst_status code) {
    (void)recorded;
    return code;
}

/** Records an error at this place of the source and evaluates to its code: `return MST_FAIL(MST_INVALID, "...")`. */
#define MST_FAIL(code, ...) mst_error_code_(mst_error_set((code), __FILE__, __LINE__, __VA_ARGS__), (code))

/** Makes CALL. If its status is not MST_OK, the calling function returns that status. */
#define MST_TRY(call)                                \
    do {                                             \
        mst_status mst_try_status_ = (call);         \
        if (mst_try_status_) return mst_try_status_; \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
