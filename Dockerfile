# tracemend as a static binary in an empty image:
#
#   docker build -t tracemend .
#   docker run --rm --network none --read-only -v "$PWD:/data:ro" tracemend check /data
FROM rust:1.90-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /source
COPY . .
RUN cargo build --release --locked -p tracemend-cli

FROM scratch
COPY --from=build /source/target/release/tracemend /tracemend
USER 65534
ENTRYPOINT ["/tracemend"]
