#!/bin/sh
# with_plugin.sh PLUGIN COMMAND...: runs COMMAND with the plugin of PJRT at PLUGIN. Where there is none: exits 77.
set -eu
if [ ! -e "$1" ]; then
    echo "skipped: there is no plugin '$1': scripts/pjrt-plugin fetches it"
    exit 77
fi
export MUSTER_PJRT_PLUGIN="$1"
shift
exec "$@"
