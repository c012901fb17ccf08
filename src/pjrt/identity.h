/** Identifies plugins and kinds of devices by two texts. The text of the plugin differs if two plugins may compile
 *  differently. The other text is the kind of the devices. Processes may exchange a compiled program only if both texts
 *  are the same. */
#ifndef MUSTER_PJRT_IDENTITY_H
#define MUSTER_PJRT_IDENTITY_H

#include "pjrt/client.h"

/** Writes these texts to `plugin` and `device_kind` of CLIENT, and both to `identity`. PATH is the plugin's file; a
 *  copy of the file elsewhere gives the same text. MST_UNAVAILABLE: the devices are not all of one kind. MST_IO: the
 *  file cannot be read. */
MST_CHECKED mst_status mst_pjrt_identify(mst_pjrt_client *client, const char *path);

#endif
