# One replica of the page, on processors.
#
#     docker build -t vitexplorer .
#     docker run --rm -p 7860:7860 --read-only --tmpfs /tmp -v vitexplorer:/home/user/kept vitexplorer
#
# It writes into /tmp and /home/user/kept alone: there lie the weights that it fetched and the trainings. torch and
# torchvision are PyTorch's own builds for processors, some hundred MB; --build-arg TORCH=auto or TORCH=cu130 takes those
# for a GPU, of several GB, and --build-arg TORCH= those of the usual index. `.ci/image` tries these steps without Docker.
FROM python:3.12-slim

# Chromium draws PNG, SVG and PDF for scripts, the command line and `vx.save`; without the CJK fonts Chinese is boxes.
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium fonts-dejavu-core fonts-noto-cjk \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 user && install -d -o user -g user /home/user/kept
USER user
WORKDIR /home/user/app
ENV VIRTUAL_ENV=/home/user/venv \
    PATH=/home/user/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HF_HOME=/home/user/kept/huggingface \
    VIT_RUNS_FOLDER=/home/user/kept/runs \
    VIT_HOST=0.0.0.0 \
    VIT_PORT=7860

# The versions of requirements.lock, but for packages of CUDA: a build of torch for another CUDA states others itself.
ARG TORCH=cpu
COPY --chown=user requirements.txt requirements.lock ./
RUN python -m venv /tmp/uv && /tmp/uv/bin/pip install --no-cache-dir -c requirements.lock uv \
    && grep -vE '^(cuda|nvidia)-' requirements.lock > /tmp/uv/versions.txt \
    && /tmp/uv/bin/uv venv "$VIRTUAL_ENV" \
    && /tmp/uv/bin/uv pip install --no-cache --compile-bytecode ${TORCH:+--torch-backend=$TORCH} \
        -c /tmp/uv/versions.txt -r requirements.txt \
    && rm -rf /tmp/uv

COPY --chown=user . .
RUN python -m compileall -q vitexplorer

EXPOSE 7860
VOLUME /home/user/kept
HEALTHCHECK --interval=30s --timeout=10s --start-period=2m \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['VIT_PORT'] + '/healthz', timeout=8)"]
CMD ["python", "app.py"]
