# Stage one builds a wheel and installs it with its dependencies; stage two carries only the result.
FROM python:3.11-slim AS build
# `docker build --build-arg EXTRAS=s3,dask,embeddings .` takes more in.
ARG EXTRAS=s3
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY app app
COPY rules rules
COPY prompts prompts
COPY fixtures fixtures
RUN python -m venv /opt/firstfault \
    && /opt/firstfault/bin/pip install --no-cache-dir -c constraints.txt ".[${EXTRAS}]"

FROM python:3.11-slim
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/firstfault firstfault \
    && install -d -o firstfault /var/lib/firstfault/data
COPY --from=build /opt/firstfault /opt/firstfault
ENV PATH=/opt/firstfault/bin:$PATH \
    FIRSTFAULT_DATA_DIR=/var/lib/firstfault/data \
    FIRSTFAULT_CACHE_DIR=/var/lib/firstfault/cache \
    FIRSTFAULT_HOST=0.0.0.0
USER 10001
WORKDIR /var/lib/firstfault
# Beyond the container it listens with access tokens only: `docker run -p 8000:8000 -e
# FIRSTFAULT_TOKENS=ops:admin:SECRET`. Without them it says so and ends.
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["firstfault", "serve"]
