# One image for the API, the workers, beat and Flower. It runs as an ordinary user, from a file system that may be read-only,
# and fetches nothing at run time. The first stage builds, the second has no build tool and no test tool in it.
FROM python:3.13-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
RUN python -m venv /opt/longtail
COPY requirements-run.lock .
RUN /opt/longtail/bin/pip install --require-hashes -r requirements-run.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY api api
COPY workers workers
COPY models models
COPY bench bench
RUN /opt/longtail/bin/pip install --no-deps --no-build-isolation . \
    && /opt/longtail/bin/python -m compileall -q /opt/longtail/lib \
    && /opt/longtail/bin/pip uninstall --yes hatchling pip

FROM python:3.13-slim
# The matrices of a question are small: a second thread of the linear algebra library only spins beside the database.
ENV PATH=/opt/longtail/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 LONGTAIL_HOME=/var/lib/longtail
RUN useradd --system --create-home --home-dir /var/lib/longtail --uid 10001 longtail
COPY --from=build /opt/longtail /opt/longtail
USER longtail
WORKDIR /var/lib/longtail
CMD ["python", "-m", "api.server"]
