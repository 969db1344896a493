# One image for every component: `docker run … start scheduler -c /etc/gatehouse/gatehouse.conf`, and so on.
#
# The version of Node is the one package.json pins; the suite compares the two.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /opt/gatehouse
COPY package.json package-lock.json ./
# --ignore-scripts: no package of the build needs one.
RUN npm ci --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY LICENSE ./
COPY src src
COPY drivers drivers
COPY scripts scripts
RUN node scripts/build.ts /opt/program

FROM node:24.21.0-bookworm-slim
# git does the merging, bubblewrap isolates jobs, openssh-client reaches code hosts over ssh; tini is the first process: it reaps what
# sandboxes leave behind, and passes signals on.
# Debian's security updates are wanted, so its packages have no versions here.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git bubblewrap ca-certificates openssh-client tini \
    && rm -rf /var/lib/apt/lists/*
# The build holds all it needs: no packages, no sources.
COPY --from=build /opt/program /opt/gatehouse
RUN ln -s /opt/gatehouse/bin/gatehouse.mjs /usr/local/bin/gatehouse \
    && install -d -o node -g node /var/lib/gatehouse /srv/git /srv/developer
# The image's user `node`. What is mounted at /var/lib/gatehouse must be writable for it; a new named volume is.
USER 1000
WORKDIR /var/lib/gatehouse
ENTRYPOINT ["tini", "-s", "--", "gatehouse"]
CMD ["start", "-c", "/etc/gatehouse/gatehouse.conf"]
