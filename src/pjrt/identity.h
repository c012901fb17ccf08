/** Identifies plugins and kinds of devices. Processes may exchange a compiled program only if both texts are the same:
 *  that of the plugin, which differs if two plugins may compile differently, and that of the kind of the devices. */
#ifndef MUSTER_PJRT_IDENTITY_H
#define MUSTER_PJRT_IDENTITY_H

#include "pjrt/client.h"

/** Writes these texts, `plugin` and `device_kind` of CLIENT, and `identity`, which is both. The plugin is the file
 *  PATH; a copy of it elsewhere has the same text. MST_UNAVAILABLE: the devices are not all of one kind. */
MST_CHECKED mst_status mst_pjrt_identify(mst_pjrt_client *client, const char *path);

#endif
