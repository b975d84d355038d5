// Fetching of files with small caches, so that going back a block, a size or a model is instant.

const CACHED_PAYLOADS = 6;
const CACHED_IMAGES = 4;

const images = /** @type {Map<string, Promise<HTMLImageElement>>} */ (new Map());

/**
 * Returns the value of a key and keeps the latest few.
 *
 * @template T
 * @param {Map<string, T>} cached
 * @param {string} key
 * @param {number} limit
 * @param {() => T} make
 */
export function recent(cached, key, limit, make) {
  const value = cached.get(key) ?? make();
  cached.delete(key);
  cached.set(key, value);
  while (cached.size > limit) cached.delete(cached.keys().next().value);
  return value;
}

/**
 * Fetches bytes by URL and caches the last few. `here` returns cached bytes synchronously: a promise would resolve
 * after the next frame is painted.
 *
 * @param {(url: string) => Promise<ArrayBuffer>} [bytes] fetches the bytes where there is no server
 */
export function newFetcher(bytes = fromServer) {
  /** @type {Map<string, {coming: Promise<ArrayBuffer>, here: ArrayBuffer | null}>} */
  const cached = new Map();

  /** @param {string} url @returns {Promise<ArrayBuffer>} */
  function fetchBytes(url) {
    const entry = recent(cached, url, CACHED_PAYLOADS, () => ({coming: bytes(url), here: null}));
    entry.coming.then(
      (result) => {
        entry.here = result;
      },
      () => cached.delete(url),
    );
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
 * Fetches an image by URL; the last few stay decoded.
 *
 * @param {string} url
 * @returns {Promise<HTMLImageElement>} decoded
 */
export function fetchImage(url) {
  const coming = recent(images, url, CACHED_IMAGES, () => decodedImage(url));
  coming.catch(() => images.delete(url));
  return coming;
}

/** @param {string} url */
async function decodedImage(url) {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}
