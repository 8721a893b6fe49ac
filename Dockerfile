# docker build -t bridge . && docker run --rm -v "$PWD/bridge.yaml:/etc/bridge/bridge.yaml:ro" -p 7411:7411 bridge
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# The image contains the files of the package, and the dependencies of the lock file.
RUN npm pack && tar -xzf mcp-stream-bridge-*.tgz && npm prune --omit=dev

FROM node:24-bookworm-slim
# tini runs as the first process and reaps the processes that servers leave behind. Health checks use wget.
RUN apt-get update && apt-get install -y --no-install-recommends tini wget && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /src/package ./
COPY --from=build /src/node_modules ./node_modules
USER node
EXPOSE 7411
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
	CMD wget -q -O /dev/null http://127.0.0.1:7411/healthz || exit 1
ENTRYPOINT ["/usr/bin/tini", "--", "node", "/app/dist/bin/bridge.js"]
CMD ["gateway", "--config", "/etc/bridge/bridge.yaml"]
