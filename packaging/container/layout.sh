#!/bin/sh
# Lays out what the image copies: the program for one architecture, and the folders in which its
# user may write.
#
#     sh packaging/container/layout.sh OUT ARCHITECTURE PROGRAM
set -eu

out=$1
architecture=$2
program=$3
mkdir -p "$out/$architecture" "$out/root/palaces" "$out/root/home/palazzo" "$out/root/tmp"
chmod 1777 "$out/root/tmp"
cp "$program" "$out/$architecture/palazzo"
chmod 755 "$out/$architecture/palazzo"
