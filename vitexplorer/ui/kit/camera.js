// Webcam: on while it is used, with a reason where it cannot be started.

import {make} from './dom.js';

/** Keys of the sentences by the browser's names of the errors. */
const REASONS = {NotFoundError: 'webcam_none', SecurityError: 'webcam_insecure'};

/**
 * @param {HTMLVideoElement} video element that shows the camera's picture
 * @param {() => void} [stopped] called when the camera is off
 */
export function camera(video, stopped = () => {}) {
  let requests = 0; // number of starts and stops: the person may give permission too late

  const tracks = () => /** @type {MediaStream | null} */ (video.srcObject)?.getTracks() ?? [];
  const isOn = () => tracks().length > 0;

  function stop() {
    requests++;
    for (const track of tracks()) track.stop();
    video.srcObject = null;
    stopped();
  }

  return {
    isOn,
    stop,
    /** @returns {Promise<string>} key of the sentence with the reason why it is off; empty if it is on */
    async start() {
      const own = ++requests;
      if (isOn()) return '';
      try {
        if (!navigator.mediaDevices) throw new DOMException('', 'SecurityError'); // pages without https have no cameras
        const stream = await navigator.mediaDevices.getUserMedia({video: true});
        if (own !== requests) for (const track of stream.getTracks()) track.stop();
        else {
          video.srcObject = stream;
          await video.play();
        }
        return '';
      } catch (error) {
        return REASONS[error.name] ?? 'webcam_refused';
      }
    },
    /**
     * Takes a picture: the whole one as a PNG, or the square in its middle as a JPEG of `side` pixels.
     *
     * @param {number} [side]
     * @returns {Promise<Blob | null>}
     */
    still(side = 0) {
      const {videoWidth: width, videoHeight: height} = video;
      const square = Math.min(width, height);
      const canvas = make('canvas', side ? {width: side, height: side} : {width, height});
      const pen = canvas.getContext('2d');
      if (side) pen.drawImage(video, (width - square) / 2, (height - square) / 2, square, square, 0, 0, side, side);
      else pen.drawImage(video, 0, 0);
      return new Promise((done) => {
        canvas.toBlob(done, side ? 'image/jpeg' : 'image/png', 0.9);
      });
    },
  };
}
