# One replica of the page.
#
#     docker build -t vitexplorer . && docker run --rm -p 7860:7860 vitexplorer
#
# pip's own torch runs on a GPU as well as without one and weighs about 5 GB. For a processor alone, name an index that
# has torch *and* torchvision as CPU builds of the same release: --build-arg TORCH_INDEX=https://...
FROM python:3.12-slim

# Chromium draws PNG, SVG and PDF for the command line and `vx.save`; without the CJK fonts Chinese would be boxes.
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium fonts-dejavu-core fonts-noto-cjk \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 user
USER user
WORKDIR /home/user/app
ENV PATH=/home/user/.local/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HF_HOME=/home/user/.cache/huggingface \
    VIT_HOST=0.0.0.0 \
    VIT_PORT=7860

ARG TORCH_INDEX=
COPY --chown=user requirements.txt .
RUN if [ -n "$TORCH_INDEX" ]; then \
        pip install --no-cache-dir --user --index-url "$TORCH_INDEX" torch torchvision; \
    fi \
    && pip install --no-cache-dir --user -r requirements.txt

# Made here, so that a volume mounted on it belongs to the user.
RUN mkdir -p "$HF_HOME"
COPY --chown=user . .

EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=10s --start-period=2m \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['VIT_PORT'] + '/healthz', timeout=8)"]
CMD ["python", "app.py"]
