// A picture on its way to the server, as the bytes that the person has: nothing is drawn anew in between.

const KIND = 'application/octet-stream';  // which no page of a stranger may send here without asking first

/**
 * @param {Blob} picture
 * @param {(share: number) => void} progress told which share has been sent
 * @returns {Promise<{image: string} | {refused: string}>} the picture's id, or why there is none
 */
export function sendPicture(picture, progress) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('POST', new URL(`./picture${location.search}`, document.baseURI));
    request.setRequestHeader('Content-Type', KIND);
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({loaded, total}) => progress(loaded / total));
    request.addEventListener('load', () => resolve(request.response ?? {refused: ''}));
    request.addEventListener('error', () => resolve({refused: ''}));
    request.send(picture);
  });
}
