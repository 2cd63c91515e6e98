# One image for the API, the workers, beat and Flower; it runs as an ordinary user and fetches nothing at run time.
FROM python:3.13-slim
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# The matrices of a question are small: a second thread of the linear algebra library only spins beside the database.
ENV OPENBLAS_NUM_THREADS=1
WORKDIR /opt/longtail
COPY requirements.lock .
RUN pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY api api
COPY workers workers
COPY models models
COPY bench bench
RUN pip install --no-deps --no-build-isolation . \
    && useradd --system --create-home --home-dir /var/lib/longtail longtail
USER longtail
WORKDIR /var/lib/longtail
CMD ["python", "-m", "api.server"]
