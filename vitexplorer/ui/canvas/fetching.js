// Fetching of files with a small cache.

const CACHED_PAYLOADS = 6;

/**
 * Fetches bytes by URL and caches the last few, so that going back a block is instant. `here` returns cached bytes
 * synchronously: a promise would resolve after the next frame is painted.
 *
 * @param {(url: string) => Promise<ArrayBuffer>} [bytes] fetches the bytes where there is no server
 */
export function newFetcher(bytes = fromServer) {
  /** @type {Map<string, {coming: Promise<ArrayBuffer>, here: ArrayBuffer | null}>} */
  const cached = new Map();

  /** @param {string} url @returns {Promise<ArrayBuffer>} */
  function fetchBytes(url) {
    const entry = cached.get(url) ?? {coming: bytes(url), here: null};
    cached.delete(url);
    cached.set(url, entry);
    entry.coming.then(
      (result) => {
        entry.here = result;
      },
      () => cached.delete(url),
    );
    while (cached.size > CACHED_PAYLOADS) cached.delete(cached.keys().next().value);
    return entry.coming;
  }

  /** @param {string} url @returns {ArrayBuffer | null} */
  const here = (url) => cached.get(url)?.here ?? null;
  return {fetchBytes, here};
}

/** @param {string} url */
async function fromServer(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return answer.arrayBuffer();
}

/**
 * @param {string} url
 * @returns {Promise<HTMLImageElement>} decoded
 */
export async function fetchImage(url) {
  const image = new Image();
  image.crossOrigin = 'anonymous';
  image.src = url;
  await image.decode();
  return image;
}
