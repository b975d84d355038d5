// Fetching of files with a small cache.

const KEPT_PAYLOADS = 6;

/**
 * Fetches bytes by URL and caches the last few, so that going back a block is instant. `here` returns cached bytes
 * synchronously: a promise would resolve after the next frame is painted.
 *
 * @param {(url: string) => Promise<ArrayBuffer>} [bytes] fetches the bytes where there is no server
 */
export function newFetcher(bytes = fromServer) {
  /** @type {Map<string, {coming: Promise<ArrayBuffer>, here: ArrayBuffer | null}>} */
  const kept = new Map();

  /** @param {string} url @returns {Promise<ArrayBuffer>} */
  function fetchBytes(url) {
    const one = kept.get(url) ?? {coming: bytes(url), here: null};
    kept.delete(url);
    kept.set(url, one);
    one.coming.then((found) => { one.here = found; }, () => kept.delete(url));
    while (kept.size > KEPT_PAYLOADS) kept.delete(kept.keys().next().value);
    return one.coming;
  }

  /** @param {string} url @returns {ArrayBuffer | null} */
  const here = (url) => kept.get(url)?.here ?? null;
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
