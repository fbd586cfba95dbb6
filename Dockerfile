# Stage one builds a wheel and installs it with its dependencies; stage two carries only the result.
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY app app
COPY rules rules
COPY prompts prompts
COPY fixtures fixtures
RUN python -m venv /opt/firstfault \
    && /opt/firstfault/bin/pip install --no-cache-dir -c constraints.txt .

FROM python:3.11-slim
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/firstfault firstfault
COPY --from=build /opt/firstfault /opt/firstfault
ENV PATH=/opt/firstfault/bin:$PATH \
    FIRSTFAULT_DATA_DIR=/var/lib/firstfault/data \
    FIRSTFAULT_CACHE_DIR=/var/lib/firstfault/cache \
    FIRSTFAULT_HOST=127.0.0.1
USER 10001
WORKDIR /var/lib/firstfault
# The service has no access tokens yet and listens inside the container only: reach it with
# `docker exec`, or share its network (`--network container:NAME`).
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["firstfault", "serve"]
