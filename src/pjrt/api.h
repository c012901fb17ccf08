/** The C API of PJRT as a plugin has it, and its errors.
 *
 *  A plugin may be older or newer than the header with which this module was built. Each struct that goes to it says
 *  its size; a function that it does not have is NULL in the table here. Plugins stay loaded. */
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

/** Sets OUT to the COUNT attributes of the plugin, which are valid for ever; NULL and 0: it does not say any. */
MST_CHECKED mst_status mst_pjrt_attributes(const PJRT_Api *api, const PJRT_NamedValue **out, size_t *count);
/** Sets OUT to the version of StableHLO that the plugin knows, a list of at least one number; NULL: it does not say. */
MST_CHECKED mst_status mst_pjrt_stablehlo_version(const PJRT_Api *api, const PJRT_NamedValue **out);

/** Writes the SIZE bytes of TEXT (NULL: none) to OUT as one line, as far as its ROOM, at least 1, suffices. */
void mst_pjrt_line(const char *text, size_t size, char *out, size_t room);

/** The code of ERROR, which is not NULL; PJRT_Error_Code_INTERNAL: the plugin does not say. */
PJRT_Error_Code mst_pjrt_error_code(const PJRT_Api *api, PJRT_Error *error);
/** Frees ERROR, which is not NULL, and returns the status that it stands for. Writes its message, one line, to
 *  MESSAGE. */
mst_status mst_pjrt_error_take(const PJRT_Api *api, PJRT_Error *error, char message[MST_PJRT_MESSAGE]);
/** What to do after an error of the plugin with STATUS, to be put behind its message: ": " and a sentence; "": that is
 *  not known. */
const char *mst_pjrt_advice(mst_status status);
/** Frees ERROR and records it with WHAT before it: "making a client". MST_OK: ERROR is NULL. */
MST_CHECKED mst_status mst_pjrt_check(const PJRT_Api *api, PJRT_Error *error, const char *what);
/** Frees ERROR, which nobody needs to know. NULL is allowed. */
void mst_pjrt_error_drop(const PJRT_Api *api, PJRT_Error *error);
/** Frees EVENT, for which nobody waits. NULL is allowed. */
void mst_pjrt_event_drop(const PJRT_Api *api, PJRT_Event *event);

#endif
