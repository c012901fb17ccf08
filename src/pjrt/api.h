/** Loads a plugin, and handles its errors. A plugin is a shared library with a table of the functions of PJRT, the C
 *  interface of XLA's runtimes.
 *
 *  A plugin may be older or newer than the header with which this module was built. So each struct that is passed to it
 *  begins with its size, and a function that it does not have is NULL in the table. */
#ifndef MUSTER_PJRT_API_H
#define MUSTER_PJRT_API_H

#include <pjrt_c_api.h>

#include "muster/status.h"

enum {
    MST_PJRT_OLDEST_MINOR = 70, /**< the oldest version of the API is 0.70 */
    MST_PJRT_MESSAGE = 512      /**< room for the message of a plugin */
};

/** Loads the plugin at PATH and sets OUT to its functions. The plugin is never unloaded. MST_UNAVAILABLE: it cannot be
 *  loaded, is no plugin, is too old or too new, or lacks a function that this module needs. */
MST_CHECKED mst_status mst_pjrt_api_load(const char *path, PJRT_Api **out);

/** Sets OUT to the COUNT attributes of the plugin, which stay valid for ever; NULL and 0: it has none. */
MST_CHECKED mst_status mst_pjrt_attributes(const PJRT_Api *api, const PJRT_NamedValue **out, size_t *count);
/** Sets OUT to the version of StableHLO that the plugin supports, a list of at least one number; NULL: not known. */
MST_CHECKED mst_status mst_pjrt_stablehlo_version(const PJRT_Api *api, const PJRT_NamedValue **out);

/** Writes TEXT of SIZE bytes to OUT as one line, ended by a zero byte and cut off if it does not fit into ROOM bytes.
 *  TEXT may be NULL: the line is empty. */
void mst_pjrt_line(const char *text, size_t size, char *out, size_t room);

/** The code of ERROR, which is not NULL; PJRT_Error_Code_INTERNAL if the plugin cannot give the code. */
PJRT_Error_Code mst_pjrt_error_code(const PJRT_Api *api, PJRT_Error *error);
/** Frees ERROR, which is not NULL, and returns its code as a status. Writes its message, one line, to MESSAGE. Records
 *  no error. */
mst_status mst_pjrt_error_take(const PJRT_Api *api, PJRT_Error *error, char message[MST_PJRT_MESSAGE]);
/** Advice for the user after an error of the plugin with STATUS, to be appended to the message: ": " and the advice; ""
 *  if there is none. */
const char *mst_pjrt_advice(mst_status status);
/** Frees ERROR, records it as the thread's error, and returns its status. The message begins with WHAT, such as "making
 *  a client". MST_OK if ERROR is NULL. */
MST_CHECKED mst_status mst_pjrt_check(const PJRT_Api *api, PJRT_Error *error, const char *what);
/** Frees ERROR without recording it. NULL is allowed. */
void mst_pjrt_error_drop(const PJRT_Api *api, PJRT_Error *error);
/** Frees EVENT, for which nobody waits. NULL is allowed. */
void mst_pjrt_event_drop(const PJRT_Api *api, PJRT_Event *event);

#endif
