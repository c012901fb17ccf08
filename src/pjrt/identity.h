/** Two texts by which programs that are compiled may be exchanged: one for the plugin, which differs where two plugins
 *  may compile differently, and one for the kind of the devices. */
#ifndef MUSTER_PJRT_IDENTITY_H
#define MUSTER_PJRT_IDENTITY_H

#include "pjrt/client.h"

/** Writes these texts, `plugin` and `device_kind` of CLIENT, and `identity`, which is both. The plugin is the file
 *  PATH; a copy of it elsewhere has the same text. MST_UNAVAILABLE: the devices are of two kinds. */
MST_CHECKED mst_status mst_pjrt_identify(mst_pjrt_client *client, const char *path);

#endif
