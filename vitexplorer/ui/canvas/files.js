// Fetching what Python names, keeping a few payloads, and handing files to the visitor.

const KEPT_PAYLOADS = 6;

// Fetches bytes by URL; the last few are kept, so that going back a block is instant.
function newFetcher() {
  const kept = new Map();
  return function fetchBytes(url) {
    const promise = kept.get(url) ?? fetch(url).then((answer) => {
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      return answer.arrayBuffer();
    });
    kept.delete(url);
    kept.set(url, promise);
    promise.catch(() => kept.delete(url));
    while (kept.size > KEPT_PAYLOADS) kept.delete(kept.keys().next().value);
    return promise;
  };
}

async function fetchImage(url) {
  const image = new Image();
  image.crossOrigin = 'anonymous';
  image.src = url;
  await image.decode();
  return image;
}

// Hands a blob to the visitor as a file.
function saveBlob(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// A file name of words: letters, digits, dots and dashes.
function fileName(parts, ending) {
  const safe = parts.map((part) => String(part).replace(/[^\p{L}\p{N}._]+/gu, '-').replace(/^-+|-+$/g, ''));
  return `${safe.filter(Boolean).join('_')}.${ending}`;
}
