# The released program in an empty image. FOLDER is an archive of a release, unpacked:
#
#   docker build -t tracemend -f Dockerfile FOLDER
#   docker run --rm --network none --read-only --user "$(id -u):$(id -g)" -v "$PWD:/data" \
#       tracemend check night.data
#
# perf makes its files readable for their owner only: the program has to run as the caller. With
# rootless podman, use `--userns keep-id` instead of `--user`. `.ci/release` makes the same image
# without a container engine, with the settings of this file.
FROM scratch
COPY tracemend LICENSE-APACHE LICENSE-MIT /
WORKDIR /data
USER 65534
ENTRYPOINT ["/tracemend"]
