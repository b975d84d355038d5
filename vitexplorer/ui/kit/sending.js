// A picture or the files of a model on their way to the server, as the bytes that the person has: nothing is made anew
// in between.

import {browserName} from '../shell/visitor.js';

const KIND = 'application/octet-stream';  // which no page of a stranger may send here without asking first

/**
 * @param {string} where below the page
 * @param {URLSearchParams} query
 * @returns {XMLHttpRequest} not sent yet
 */
function request(where, query) {
  const made = new XMLHttpRequest();
  made.open('POST', new URL(`./${where}?${query}`, document.baseURI));
  made.setRequestHeader('Content-Type', KIND);
  return made;
}

/**
 * @param {Blob} picture
 * @param {(share: number) => void} progress told which share has been sent
 * @returns {Promise<{image: string} | {refused: string}>} the picture's id, or why there is none
 */
export function sendPicture(picture, progress) {
  return new Promise((resolve) => {
    const sent = request('picture', new URLSearchParams(location.search));
    sent.responseType = 'json';
    sent.upload.addEventListener('progress', ({loaded, total}) => progress(loaded / total));
    sent.addEventListener('load', () => resolve(sent.response ?? {refused: ''}));
    sent.addEventListener('error', () => resolve({refused: ''}));
    sent.send(picture);
  });
}

/**
 * A file of a visitor's that is theirs alone.
 *
 * @param {string} where below the page
 * @param {Record<string, string>} asked
 * @param {Blob} file
 * @param {(share: number) => void} progress told which share has been sent
 * @returns {Promise<any>} what was answered; null where nothing came
 */
export function sendFile(where, asked, file, progress) {
  const sent = request(where, new URLSearchParams({lang: document.documentElement.lang, ...asked}));
  sent.setRequestHeader('X-Visitor', browserName());
  sent.responseType = 'json';
  return new Promise((resolve) => {
    sent.upload.addEventListener('progress', ({loaded, total}) => progress(loaded / total));
    sent.addEventListener('load', () => resolve(sent.response));
    sent.addEventListener('error', () => resolve(null));
    sent.send(file);
  });
}

/**
 * What becomes of a model's files: the last line of the answer.
 *
 * @typedef {object} Opened
 * @property {string} [model] its name
 * @property {string} [refused] why it is not shown; empty where nothing came
 * @property {{name: string, title: string}[]} [several] among which a person has to choose
 * @property {string} [error] why the server took nothing
 */

/**
 * Files, or what was asked of files that are there.
 *
 * @param {File[]} files one after the other in one body
 * @param {Record<string, string>} asked
 * @param {(step: {share?: number | null, doing?: string, sending?: number}) => void} progress
 * @returns {{opened: Promise<Opened>, stop: () => void}}
 */
export function sendModel(files, asked, progress) {
  const query = new URLSearchParams({lang: document.documentElement.lang, ...asked});
  if (files.length) query.set('files', JSON.stringify(files.map(({name, size}) => [name, size])));
  const sent = request('model', query);
  sent.setRequestHeader('X-Visitor', browserName());
  const opened = new Promise((resolve) => {
    sent.upload.addEventListener('progress', ({loaded, total}) => progress({sending: loaded / total}));
    sent.addEventListener('progress', () => { const step = lastLine(sent.responseText); if (step?.doing) progress(step); });
    sent.addEventListener('load', () => resolve(lastLine(sent.responseText) ?? {refused: ''}));
    sent.addEventListener('error', () => resolve({refused: ''}));
    sent.addEventListener('abort', () => resolve({}));
  });
  sent.send(files.length ? new Blob(files) : null);
  return {opened, stop: () => sent.abort()};
}

/**
 * The last whole line of JSON that has come.
 *
 * @param {string} text
 * @returns {any} null where there is none
 */
export function lastLine(text) {
  for (const line of text.split('\n').reverse()) {
    try {
      if (line) return JSON.parse(line);
    } catch { /* it is still coming */ }
  }
  return null;
}

/**
 * Whether a file is a model's and no picture: the panel of the models takes it wherever it is dropped.
 *
 * @param {{name: string}} file
 */
export function isOfModel({name}) {
  return /\.(safetensors|zip|bin|pth|pt|ckpt|tar)$/i.test(name);
}
