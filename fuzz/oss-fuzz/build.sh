#!/bin/bash -eu
# The build is the one of ClusterFuzzLite.
exec "$SRC/tracemend/.clusterfuzzlite/build.sh"
