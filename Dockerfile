# syntax=docker/dockerfile:1
# Presage as one executable on a base that has a C library, certificates and no shell.
# docker build -t presage . ; for another processor add --platform linux/arm64

FROM --platform=$BUILDPLATFORM node:24-trixie-slim AS build
ARG TARGETARCH
WORKDIR /presage
COPY . .
# Compiled for the target on the building machine, so nothing is emulated.
RUN --mount=type=cache,target=/npm \
    case "$TARGETARCH" in amd64) target=linux-x64 ;; *) target="linux-$TARGETARCH" ;; esac \
 && npm_config_cache=/npm npm run build:executable -- "$target" \
 && mv "dist/presage-$target" /usr/local/bin/presage \
 && mkdir /data

FROM gcr.io/distroless/base-nossl-debian12:nonroot
COPY --from=build /usr/local/bin/presage /usr/local/bin/presage
COPY --from=build /presage/LICENSE /presage/dist/THIRD-PARTY-LICENCES.txt /usr/share/doc/presage/
# The only place that is written to.
COPY --from=build --chown=65532:65532 /data /data
VOLUME /data
WORKDIR /data
ENV PRESAGE_HOST=0.0.0.0 \
    PRESAGE_DATABASE_URL=sqlite:/data/presage.db
USER 65532:65532
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 CMD ["/usr/local/bin/presage", "health"]
ENTRYPOINT ["/usr/local/bin/presage"]
CMD ["serve"]
