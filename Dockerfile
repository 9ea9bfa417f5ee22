# docker build -t headway . && docker run --rm -v "$PWD:/data" headway audit runs
# The first stage has a compiler, for the kernels in C; the image that is kept has none.
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
COPY . /source
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.13-slim
COPY --from=build /wheels /wheels
COPY constraints.txt /wheels/
RUN python -m pip install --no-cache-dir --constraint /wheels/constraints.txt /wheels/*.whl \
    && rm -r /wheels && useradd --create-home headway
USER headway
WORKDIR /data
ENTRYPOINT ["headway"]
CMD ["--help"]
