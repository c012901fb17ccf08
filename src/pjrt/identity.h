/** What tells two plugins, and two kinds of devices, apart for whom an executable was compiled. */
#ifndef MUSTER_PJRT_IDENTITY_H
#define MUSTER_PJRT_IDENTITY_H

#include "pjrt/client.h"

/** Fills the texts `plugin` and `device_kind` of CLIENT, whose plugin is the file PATH. Its path does not count, nor
 *  when it was installed. */
MST_CHECKED mst_status mst_pjrt_identify(mst_pjrt_client *client, const char *path);

#endif
