# Ports for the tasks of a cluster on this machine. Sourced by the scripts beside it.
# shellcheck shell=sh

# find_ports COUNT: sets $port to the first of COUNT ports in a row at which nothing listens. Scripts that are started at
# the same time begin to look at different ports.
find_ports() {
    port=$((16000 + $$ % (4000 / $1) * $1))
    until are_free "$port" "$1"; do port=$((port + $1)); done
}
are_free() {
    for candidate in $(seq "$1" $(($1 + $2 - 1))); do
        ! grep -q -i ":$(printf %04X "$candidate") " /proc/net/tcp /proc/net/tcp6 2> /dev/null || return 1
    done
}
