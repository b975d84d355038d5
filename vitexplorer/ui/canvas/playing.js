// Playback of the blocks, once around, until a person does anything else.

const PACE = 900; // ms per block

/**
 * @param {HTMLElement} button
 * @param {object} blocks
 * @param {() => {block: number, depth: number} | null} blocks.at the block on the screen; null while another is loading
 * @param {(block: number) => void} blocks.go
 */
export function newPlayer(button, {at, go}) {
  let timer = 0;
  let first = -1;

  function stop() {
    clearInterval(timer);
    timer = 0;
    button.setAttribute('aria-pressed', 'false');
    for (const kind of ['pointerdown', 'keydown', 'wheel']) document.removeEventListener(kind, interrupt, true);
  }

  function interrupt(event) {
    if (!button.contains(event.target)) stop(); // the button stops the playback itself
  }

  function step() {
    const here = at();
    if (!button.isConnected) return stop();
    if (!here) return;
    const next = (here.block + 1) % here.depth;
    go(next);
    if (next === first) stop();
  }

  button.addEventListener('click', () => {
    if (timer) return stop();
    first = at()?.block ?? -1;
    timer = setInterval(step, PACE);
    button.setAttribute('aria-pressed', 'true');
    for (const kind of ['pointerdown', 'keydown', 'wheel'])
      document.addEventListener(kind, interrupt, {capture: true, passive: true});
    step();
  });
}
