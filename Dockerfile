# One image for every component: `docker run … start scheduler -c /etc/gatehouse/gatehouse.conf`, and so on.
#
# The version of Node is the one package.json pins; the suite compares the two.
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /opt/gatehouse
COPY package.json package-lock.json ./
# --ignore-scripts: no package of the service needs one.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force

FROM node:24.21.0-bookworm-slim
# git does the merging, bubblewrap isolates jobs, openssh-client reaches code hosts over ssh; tini is the first process: it reaps what
# sandboxes leave behind, and passes signals on.
# Debian's security updates are wanted, so its packages have no versions here.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git bubblewrap ca-certificates openssh-client tini \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/gatehouse
COPY --from=packages /opt/gatehouse/node_modules node_modules
COPY package.json LICENSE ./
COPY src src
COPY drivers drivers
# Node runs the sources as they are; bin/gatehouse.mjs would look for the packages of a checkout.
RUN printf '#!/bin/sh\nexec node /opt/gatehouse/src/cmd/main.ts "$@"\n' > /usr/local/bin/gatehouse \
    && chmod 755 /usr/local/bin/gatehouse \
    && install -d -o node -g node /var/lib/gatehouse /srv/git /srv/developer
# The image's user `node`. What is mounted at /var/lib/gatehouse must be writable for it; a new named volume is.
USER 1000
WORKDIR /var/lib/gatehouse
ENTRYPOINT ["tini", "-s", "--", "gatehouse"]
CMD ["start", "-c", "/etc/gatehouse/gatehouse.conf"]
