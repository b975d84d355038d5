// Fetching what Python names, keeping a few payloads.

const KEPT_PAYLOADS = 6;

/**
 * Fetches bytes by URL; the last few are kept, so that going back a block is instant.
 *
 * @param {(url: string) => Promise<ArrayBuffer>} [bytes] what fetches them, where that is no server
 * @returns {(url: string) => Promise<ArrayBuffer>}
 */
export function newFetcher(bytes = fromServer) {
  const kept = new Map();
  return function fetchBytes(url) {
    const promise = kept.get(url) ?? bytes(url);
    kept.delete(url);
    kept.set(url, promise);
    promise.catch(() => kept.delete(url));
    while (kept.size > KEPT_PAYLOADS) kept.delete(kept.keys().next().value);
    return promise;
  };
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
