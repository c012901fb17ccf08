/** Makes executables, which are compiled programs: reads them from disk (run/executable_cache.h), gets them from
 *  another task of the cluster, or compiles the text of a program (StableHLO). */
#ifndef MUSTER_RUN_EXECUTABLES_H
#define MUSTER_RUN_EXECUTABLES_H

#include "run/executable_cache.h"

enum {
    MST_EXECUTABLE_MOST = 1 << 30,        /**< bytes of an executable that another task sends */
    MST_EXECUTABLE_SOURCE_MOST = 1 << 28, /**< bytes of the text and all other parts of a source */
};

/** A request to mst_executable_make. */
typedef struct mst_executable_order {
    mst_executable_source source;
    /** The type of device. Another task compiles the text by `compile_text` of the backend of that type
     *  (run/backend.h). */
    const char *device_type;
    /** The bytes that an earlier call gave could not be loaded; the reason is the calling thread's error, which goes to
     *  the log. The text is then compiled here, and the result replaces those bytes. */
    bool refused;
    /** Compiles the text here. *DATA, SIZE bytes, is freed with free(); NULL: the backend cannot give the bytes, so
     *  they can be neither kept nor sent. */
    mst_status (*compile)(void *context, void **data, size_t *size);
    void *context; /**< of `compile` */
} mst_executable_order;

/** Makes an executable. *DATA is then its *SIZE bytes, which the caller loads, and frees with free(). *DATA is NULL if
 *  `compile` was called, so that the caller has the executable already. Call this in an errand (run/errand.h), since it
 *  may wait for long. The executable is noted as used (run/executable_record.h).
 *
 *  Workers without parameter servers all use the same executables, so that all get the same bits: one of the workers
 *  compiles the text (messages/executable_message.h). Errors are those of `compile`, here or in the other task;
 *  MST_CORRUPT if the received bytes are damaged; MST_CANCELLED if the task was closed meanwhile. */
MST_CHECKED mst_status mst_executable_make(const mst_executable_order *order, void **data, size_t *size);

/** A way to make executables together with other processes. */
typedef struct mst_executable_exchange {
    struct mst_executable_exchange *next; /**< used by executables.c */
    mst_status (*make)(void *context, const mst_executable_order *order, void **data, size_t *size);
    /** Called before and after each `make`, so that CONTEXT and the exchange stay valid during the call. */
    void (*retain)(void *context), (*release)(void *context);
    void *context;
} mst_executable_exchange;

/** From now on EXCHANGE makes the executables of this process, if it is the only exchange. If there are several, none
 *  is used: only a process of a test has several tasks, and these share all executables anyway. */
void mst_executable_exchange_add(mst_executable_exchange *exchange);
/** Calls of mst_executable_make that begin after this do not use EXCHANGE. Does nothing if it was not added. */
void mst_executable_exchange_remove(mst_executable_exchange *exchange);

#endif
