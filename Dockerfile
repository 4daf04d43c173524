# The HTTP service of Surehand with Debian's Chromium, as a user who is not root.
FROM rust:1.95-slim-trixie AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends cmake g++ make perl \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p surehand

FROM debian:trixie-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates chromium curl fonts-liberation fonts-noto-color-emoji tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/surehand --create-home surehand \
    && chmod 700 /var/lib/surehand
COPY --from=build /src/target/release/surehand /usr/local/bin/surehand
USER surehand
WORKDIR /var/lib/surehand
ENV SUREHAND_HOME=/var/lib/surehand SUREHAND_BROWSER=/usr/bin/chromium
VOLUME /var/lib/surehand
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["curl", "-fsS", "-o", "/dev/null", "http://127.0.0.1:3000/healthz"]
# tini collects what Chromium's helpers leave behind.
ENTRYPOINT ["tini", "--", "surehand"]
CMD ["serve", "--listen", "0.0.0.0:3000"]
