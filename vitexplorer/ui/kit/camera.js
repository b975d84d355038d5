// The webcam: on while somebody wants it, with a reason where there is none.

import {make} from './dom.js';

/** Keys of the sentences by what the browser calls the reason. */
const REASONS = {NotFoundError: 'webcam_none', SecurityError: 'webcam_insecure'};

/**
 * @param {HTMLVideoElement} video shows what the camera sees
 * @param {() => void} [stopped] it is off
 */
export function camera(video, stopped = () => {}) {
  let wanted = 0;  // how often it was started or stopped: who is asked for permission may answer too late

  const tracks = () => /** @type {MediaStream | null} */ (video.srcObject)?.getTracks() ?? [];
  const isOn = () => tracks().length > 0;

  function stop() {
    wanted++;
    for (const track of tracks()) track.stop();
    video.srcObject = null;
    stopped();
  }

  return {
    isOn,
    stop,
    /** @returns {Promise<string>} key of the sentence that says why there is none; empty where it is on */
    async start() {
      const mine = ++wanted;
      if (isOn()) return '';
      try {
        if (!navigator.mediaDevices) throw new DOMException('', 'SecurityError');  // a page without https has none
        const stream = await navigator.mediaDevices.getUserMedia({video: true});
        if (mine !== wanted) for (const track of stream.getTracks()) track.stop();
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
     * What it sees now: the whole picture as a PNG, or the square in its middle as a JPEG of `side` pixels.
     *
     * @param {number} [side]
     * @returns {Promise<Blob | null>}
     */
    still(side = 0) {
      const {videoWidth: width, videoHeight: height} = video, square = Math.min(width, height);
      const canvas = make('canvas', side ? {width: side, height: side} : {width, height}), pen = canvas.getContext('2d');
      if (side) pen.drawImage(video, (width - square) / 2, (height - square) / 2, square, square, 0, 0, side, side);
      else pen.drawImage(video, 0, 0);
      return new Promise((done) => { canvas.toBlob(done, side ? 'image/jpeg' : 'image/png', 0.9); });
    },
  };
}
