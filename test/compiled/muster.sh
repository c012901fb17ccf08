#!/bin/sh
# The command $MUSTER, with $MUSTER_TEST_DEVICE for "cpu" in its arguments, as support/other_device.c has it in programs.
for word; do
    shift
    case $word in cpu | cpu[:/]*) word=$MUSTER_TEST_DEVICE${word#cpu} ;; esac
    set -- "$@" "$word"
done
exec "$MUSTER" "$@"
