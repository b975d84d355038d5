// Uploads of images, files and models, and the name of the visitor's browser that goes with them. The server gets the
// person's own bytes; nothing is encoded again.

import {inAddress} from './address.js';

const KIND = 'application/octet-stream'; // pages of other sites cannot send this type without a CORS preflight

/**
 * @param {string} path path below the page
 * @param {URLSearchParams} query
 * @returns {XMLHttpRequest} not sent yet
 */
function newRequest(path, query) {
  const request = new XMLHttpRequest();
  request.open('POST', new URL(`./${path}?${query}`, document.baseURI));
  request.setRequestHeader('Content-Type', KIND);
  return request;
}

/**
 * @param {XMLHttpRequest} request
 * @param {Blob | FormData} file
 * @param {(share: number) => void} progress called with the share that has been sent
 * @returns {Promise<any>} the answer; null if none came
 */
function sent(request, file, progress) {
  request.responseType = 'json';
  return new Promise((resolve) => {
    request.upload.addEventListener('progress', ({loaded, total}) => progress(loaded / total));
    request.addEventListener('load', () => resolve(request.response));
    request.addEventListener('error', () => resolve(null));
    request.send(file);
  });
}

/**
 * @param {Blob} picture
 * @param {(share: number) => void} [progress] called with the share that has been sent
 * @returns {Promise<{image: string} | {refused: string}>} the image's id, or the reason why it was refused
 */
export async function sendPicture(picture, progress = () => {}) {
  const request = newRequest('picture', new URLSearchParams(location.search));
  return (await sent(request, picture, progress)) ?? {refused: ''};
}

/**
 * Sends a file that only this visitor can use.
 *
 * @param {string} path path below the page
 * @param {Record<string, string>} parameters
 * @param {Blob} file
 * @param {(share: number) => void} progress called with the share that has been sent
 * @returns {Promise<any>} the answer; null if none came
 */
export function sendFile(path, parameters, file, progress) {
  const request = newRequest(path, new URLSearchParams({lang: document.documentElement.lang, ...parameters}));
  request.setRequestHeader('X-Visitor', browserName());
  return sent(request, file, progress);
}

/**
 * Sends files for an event, which names them.
 *
 * @param {File[]} files
 * @param {(share: number) => void} progress called with the share that has been sent
 * @returns {Promise<{files?: string[], refused?: string}>} their names at the server, or the reason for a refusal
 */
export async function sendFiles(files, progress) {
  const request = new XMLHttpRequest();
  const query = new URLSearchParams({lang: document.documentElement.lang});
  request.open('POST', new URL(`./gradio_api/upload?${query}`, document.baseURI));
  const form = new FormData();
  for (const file of files) form.append('files', file);
  const answer = await sent(request, form, progress);
  return Array.isArray(answer) ? {files: answer} : {refused: answer?.error ?? ''};
}

/**
 * Posts a request of this visitor.
 *
 * @param {string} path path below the page
 * @param {Record<string, string>} parameters
 * @param {Blob | null} [body]
 * @returns {Promise<Response>}
 */
export function post(path, parameters, body = null) {
  const query = new URLSearchParams({lang: inAddress('lang') || document.documentElement.lang, ...parameters});
  const headers = {'Content-Type': KIND, 'X-Visitor': browserName()};
  return fetch(new URL(`./${path}?${query}`, document.baseURI), {method: 'POST', headers, body});
}

/**
 * Result of opening a model's files: the last line of the answer.
 *
 * @typedef {object} Opened
 * @property {string} [model] its name
 * @property {string} [refused] reason why it cannot be opened; empty if no answer came
 * @property {{name: string, title: string}[]} [several] candidates among which a person has to choose
 * @property {string} [error] reason why the server refused the request itself
 */

/**
 * Sends the files of a model, or parameters for files that the server already has.
 *
 * @param {File[]} files sent one after the other in one body
 * @param {Record<string, string>} parameters
 * @param {(step: {share?: number | null, doing?: string, sending?: number}) => void} progress
 * @returns {{opened: Promise<Opened>, stop: () => void}}
 */
export function sendModel(files, parameters, progress) {
  const query = new URLSearchParams({lang: document.documentElement.lang, ...parameters});
  if (files.length) query.set('files', JSON.stringify(files.map(({name, size}) => [name, size])));
  const request = newRequest('model', query);
  request.setRequestHeader('X-Visitor', browserName());
  const opened = new Promise((resolve) => {
    request.upload.addEventListener('progress', ({loaded, total}) => progress({sending: loaded / total}));
    request.addEventListener('progress', () => {
      const step = lastLine(request.responseText);
      if (step?.doing) progress(step);
    });
    request.addEventListener('load', () => resolve(lastLine(request.responseText) ?? {refused: ''}));
    request.addEventListener('error', () => resolve({refused: ''}));
    request.addEventListener('abort', () => resolve({}));
  });
  request.send(files.length ? new Blob(files) : null);
  return {opened, stop: () => request.abort()};
}

/** Returns the last complete line of JSON received so far; null if there is none. */
function lastLine(text) {
  for (const line of text.split('\n').reverse()) {
    try {
      if (line) return JSON.parse(line);
    } catch {
      /* the line is not complete yet */
    }
  }
  return null;
}

/**
 * True for the file of a model, not of an image; the model chip takes it wherever it is dropped.
 *
 * @param {{name: string}} file
 */
export function isOfModel({name}) {
  return /\.(safetensors|zip|bin|pth|pt|ckpt|tar)$/i.test(name);
}

const NAME = /^[0-9a-f]{32}$/;
let name = '';

function randomName() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the browser's name, and stores a new one if it has none. */
function browserName() {
  try {
    name ||= localStorage.getItem('vx-visitor') ?? '';
  } catch {
    /* an embedded page that may not store anything */
  }
  if (!NAME.test(name)) name = randomName();
  try {
    localStorage.setItem('vx-visitor', name);
  } catch {
    /* then the name lasts as long as the page */
  }
  return name;
}

/**
 * Returns the inputs of an event with the visitor in the first: JSON with `visitor` and `run`, the training that the
 * address names.
 *
 * @param {any} _first
 * @param {...any} others
 * @returns {any[]}
 */
export function visitor(_first, ...others) {
  const run = new URL(location.href).searchParams.get('run') ?? '';
  return [JSON.stringify({visitor: browserName(), run}), ...others];
}
