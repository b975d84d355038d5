// Component of the whole network: values from Python, the followed token, the run of the pass, and what a click opens.

import {fetchImage, newFetcher} from '../canvas/fetching.js';
import {MEAN} from '../canvas/payload.js';
import {chosenInAddress, enterRoom, onLink, writeAddress} from '../kit/address.js';
import {filled, make, setText, showSentence, table} from '../kit/dom.js';
import {labelled, listed, percent, followed as spokenAfter} from '../kit/formats.js';
import {newAside, showHead} from '../kit/frame.js';
import {ARROWS} from '../kit/grid.js';
import {isStill} from '../kit/motion.js';
import {csvFile, fileName, offersPicture, quoted, saveFile} from '../kit/saving.js';
import {readStored, writeStored} from '../kit/stored.js';
import {newFilm} from './film.js';
import {carried, headBoxes, hitAt, layOut} from './layout.js';
import {codeAt, followedAt, hearFollowed, keptBy, tellFollowed} from './linked.js';
import {drawnShare, GROUND, hueOf, paintPicture, paintReads, signedText, sized, tokenCanvases} from './painting.js';
import {moment, newPass} from './pass.js';
import {newReads} from './reads.js';

const REST = 60; // ms; a token is asked for once the pointer rests on it
const SAID = 400; // ms until the followed token is spoken and written into the address
const SEEN = 'vx-network-seen'; // stored once the pass has run by itself, on a first visit
const LEGEND = 6; // most heads that are named in the legend

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const stage = part('.stage');
  const [below, above] = [part('canvas.picture'), part('canvas.links')];
  const {fetchBytes} = newFetcher();
  const reads = newReads(fetchBytes);
  const aside = newAside(root, save, () => (scene ? numbers() : null));
  const pass = newPass(showMoment);
  const film = newFilm(part('.record'), {
    paint,
    run: pass.run,
    isRunning: pass.isRunning,
    name: () => scene.value.saved_as,
  });
  /** @type {import('./painting.js').Scene | null} */
  let scene = null;
  let kept = MEAN; // token that stays followed
  let pointed = null; // token under the pointer
  let complete = {}; // sentence and contributions of the pass, which an answer with the rows of a token alone lacks
  let turn = 0;
  let painting = 0;
  let isStale = true; // true if more than the followed token has changed
  let asking = 0;
  let speaking = 0;

  // ------------------------------------------------------------------------------------ tokens

  /** Code of a token in words: of a patch of the first grid, a prefix token or the mean; null for none. */
  function codeOf(text, {prefix, grids} = scene.value) {
    if (text === 'mean') return MEAN;
    if (prefix.includes(text)) return -1 - prefix.indexOf(text);
    const [row, col] = text.split(',').map(Number);
    const [rows, cols] = grids[0];
    return row < rows && col < cols ? row * cols + col : null;
  }

  function textOf(code) {
    const {prefix, grids} = scene.value;
    if (code === MEAN) return 'mean';
    return code < 0 ? prefix[-1 - code] : `${Math.floor(code / grids[0][1])},${code % grids[0][1]}`;
  }

  function nameOf(code, [, cols] = scene.value.grids[0]) {
    const {words, prefix_labels: labels} = scene.value;
    if (code === MEAN) return words.mean;
    if (code < 0) return labels[-1 - code];
    return filled(words.patch, {row: Math.floor(code / cols), col: code % cols});
  }

  const followed = () => pointed ?? kept;

  /** Follows a token: at once where its attention is here, otherwise once the pointer rests on it. */
  function follow() {
    const code = followed();
    clearTimeout(asking);
    scene.code = code;
    if (!scene.value.strip || reads.has(code)) scene.reads = scene.value.strip ? reads.of(code) : [];
    else
      asking = setTimeout(
        () => trigger('follow', {query: textOf(code), target: chosenInAddress().target, whole: false}),
        REST,
      );
    root.dataset.query = textOf(code);
    const links = scene.reads.flatMap((read) => read.links);
    showSentence(part('.drawn'), links.length ? filled(scene.value.words.drawn, {share: drawnShare(links)}) : '');
    later();
  }

  /** Tells the linked pictures which token is followed here. */
  function tell(stays) {
    const {value, image} = scene;
    const code = stays ? kept : pointed;
    tellFollowed(root, value.link, code === null ? null : followedAt(code, value, image), stays);
  }

  function keep(code) {
    hold(code);
    tell(true);
  }

  function hold(code) {
    [kept, pointed] = [code, null];
    follow();
    clearTimeout(speaking);
    speaking = setTimeout(() => {
      setText(part('.spoken'), nameOf(kept));
      if (scene.value.leads) writeAddress(chosenIn(0));
      trigger('follow', {query: textOf(kept), target: chosenInAddress().target, whole: true}); // for its sentence
    }, SAID);
  }

  /** Parameters of the address for the kept token as a query of a block; other grids than the last need its number. */
  function chosenIn(block) {
    const {grids, whole} = scene.value;
    if (kept < 0) return {query: kept === codeOf(whole) ? '' : textOf(kept)};
    const [here, last] = [grids[block + 1], grids.at(-1)];
    const code = carried(kept, grids[0], here, scene.image);
    const query = `${Math.floor(code / here[1])},${code % here[1]}`;
    return String(here) === String(last) ? {query} : {query, block};
  }

  // ------------------------------------------------------------------------------------ painting

  /** Paints in the next frame, once however often it is called. */
  function later() {
    if (painting) return;
    painting = requestAnimationFrame(() => {
      painting = 0;
      paint();
    });
  }

  /** Paints both canvases; with `target`, the whole picture on that one at a scale. */
  function paint(target = null, scale = 0) {
    if (!scene?.layout) return;
    const {width, height} = scene;
    scene.now = moment(pass.at, scene.value.grids.length - 1);
    if (target) {
      const pen = sized(target, width, height, scale);
      target.dataset.font = below.dataset.font;
      pen.fillStyle = GROUND;
      pen.fillRect(0, 0, width, height);
      paintPicture(pen, scene);
      paintReads(pen, scene);
      return;
    }
    const ratio = devicePixelRatio || 1;
    if (isStale) paintPicture(sized(below, width, height, ratio), scene);
    isStale = false;
    paintReads(sized(above, width, height, ratio), scene);
  }

  function lay() {
    if (!scene || !stage.clientWidth) return;
    const {value} = scene;
    const [rows, cols] = value.grids[0];
    const blocks = value.strip?.blocks ?? [];
    scene.heads = blocks.map(({heads}) => heads);
    stage.style.height = ''; // what the page gives it
    const least = stage.clientWidth < 700 ? 0 : stage.clientHeight;
    scene.layout = layOut({
      width: stage.clientWidth,
      height: least,
      columns: value.grids.length + 2,
      aspect: cols / rows,
      heads: Math.max(1, ...scene.heads),
      lines: Number(value.lens.length > 0) + (value.has_sum ? 2 : 0),
    });
    [scene.width, scene.height] = [stage.clientWidth, scene.layout.height];
    below.dataset.font = above.dataset.font = getComputedStyle(root).fontFamily;
    for (const canvas of [below, above]) canvas.style.height = `${scene.height}px`;
    stage.style.height = `${scene.height}px`;
    isStale = true;
    paint();
  }

  // ------------------------------------------------------------------------------------ the pass

  function showMoment(at, isRunning) {
    const {words} = props.value;
    part('.at').value = String(at);
    const play = part('.play');
    setText(play, isRunning ? `❚❚ ${words.pause}` : `▶ ${words.run}`);
    root.dataset.at = String(Math.round(100 * at) / 100);
    root.toggleAttribute('data-runs', isRunning);
    isStale = true;
    later();
  }

  /** Runs the pass by itself on a first visit. */
  function runAtFirst() {
    if (!readStored(SEEN, false) && !isStill()) pass.run();
    writeStored(SEEN, true);
  }

  part('.play').onclick = () => (pass.isRunning() ? pass.pause() : pass.run());
  part('.back').onclick = () => pass.by(-1);
  part('.on').onclick = () => pass.by(1);
  part('.at').oninput = ({target}) => pass.to(target.valueAsNumber);
  part('.whole').onclick = () => keep(codeOf(scene.value.whole));

  // ------------------------------------------------------------------------------------ pointer and keys

  /** Place of the pointer on the picture, which lecture mode enlarges. */
  function pointOf({clientX, clientY}) {
    const {left, top, width} = above.getBoundingClientRect();
    const scale = scene.width / width;
    return /** @type {[number, number]} */ ([(clientX - left) * scale, (clientY - top) * scale]);
  }

  const hit = (event) => {
    const {value, layout, heads} = scene;
    return hitAt(pointOf(event), layout, {
      grids: value.grids,
      heads,
      prefix: value.prefix.length,
      lens: value.lens.length > 0,
      adds: value.adds.length > 0,
      answers: value.answers.length,
    });
  };

  /** Token of the first grid under the pointer, or null. */
  function tokenOf(thing) {
    if (thing?.kind !== 'token') return null;
    const {grids} = scene.value;
    return carried(thing.code, grids[thing.column - 1], grids[0], scene.image);
  }

  function tipOf(thing) {
    const {words, grids, lens, adds, target} = scene.value;
    if (thing?.kind === 'token') {
      const where = thing.column === 1 ? words.before : filled(words.after, {block: thing.column - 2});
      return filled(words.tip_token, {token: nameOf(thing.code, grids[thing.column - 1]), where});
    }
    if (thing?.kind === 'lens' && lens[thing.block]) {
      return labelled(words.read_here, `${lens[thing.block].name} ${lens[thing.block].value}`);
    }
    if (thing?.kind === 'adds') {
      const named = (name, i) => labelled(filled(words[name], {target}), signedText(adds[thing.block][i]));
      return listed(['attention_adds', 'mlp_adds'].map(named));
    }
    if (thing?.kind !== 'head') return '';
    const links = scene.reads[thing.block]?.links[thing.head];
    if (!links) return filled(words.tip_head_silent, thing);
    const facts = scene.value.strip.blocks[thing.block];
    const grid = facts.keys ? [facts.keys.rows, facts.keys.cols] : grids[thing.block + 1];
    const most = {key: nameOf(links[0].code, grid), share: percent(links[0].weight)};
    return filled(words.tip_head, {...thing, ...most, drawn: drawnShare([links])});
  }

  function showTip(text, event) {
    const tip = part('.tip');
    showSentence(tip, text);
    if (!text) return;
    const [x, y] = pointOf(event);
    const left = Math.min(x + 14, scene.width - tip.offsetWidth - 8);
    tip.style.transform = `translate(${Math.max(4, left)}px, ${y + 18}px)`;
  }

  above.addEventListener('pointermove', (event) => {
    if (!scene?.layout || event.pointerType === 'touch') return;
    if (pass.isRunning()) return;
    const thing = hit(event);
    const code = tokenOf(thing);
    above.style.cursor = thing ? 'pointer' : 'default';
    showTip(tipOf(thing), event);
    if (code === pointed) return;
    pointed = code;
    follow();
    tell(false);
  });
  above.addEventListener('pointerleave', () => {
    part('.tip').hidden = true;
    if (pointed === null || !scene) return;
    pointed = null;
    follow();
    tell(false);
  });
  hearFollowed(
    root,
    () => scene?.value.link,
    (token, stays) => {
      if (!stays) approach();
      const code = token && codeAt(token, scene.value, scene.image);
      if (stays) return hold(code);
      pointed = code;
      follow();
    },
  );
  /** Fetches the whole blocks, with which any token can be followed, once the pointer comes near. */
  async function approach() {
    if (scene && (await reads.ahead().catch(() => false))) root.toggleAttribute('data-whole', true);
  }

  above.addEventListener('pointerenter', approach);
  above.addEventListener('focus', approach);
  above.addEventListener('pointerdown', () => pass.pause());
  above.addEventListener('click', (event) => {
    const thing = scene?.layout && hit(event);
    if (!thing) return;
    const code = tokenOf(thing);
    if (code !== null) keep(code);
    else if (scene.value.leads) open(thing);
  });

  /**
   * Opens the room that shows the thing in detail.
   *
   * @param {import('./layout.js').Hit} thing
   */
  function open({kind, block, head}) {
    if (kind === 'head' || kind === 'block') {
      writeAddress({...chosenIn(block), block, head: kind === 'head' ? head : ''});
      enterRoom('attention', 'attention_map');
    } else if (kind === 'lens') enterRoom('outputs', 'logit_lens');
    else if (kind === 'adds') {
      writeAddress({block});
      enterRoom('outputs', 'logit_attribution');
    } else enterRoom('outputs', scene.value.answers.length > 1 ? 'logit_lens' : '');
  }

  above.addEventListener('keydown', (event) => {
    if (!scene) return;
    const {grids, whole} = scene.value;
    const [rows, cols] = grids[0];
    const step = ARROWS[event.key];
    if (!step && event.key !== 'Home' && event.key !== ' ') return;
    event.preventDefault();
    if (event.key !== ' ') pass.pause();
    if (event.key === ' ') part('.play').click();
    else if (event.key === 'Home') keep(codeOf(whole));
    else if (kept < 0) keep(step[0] < 0 ? kept : Math.floor(cols / 2));
    else {
      const [row, col] = [Math.floor(kept / cols) + step[0], (kept % cols) + step[1]];
      if (row < 0) keep(codeOf(whole));
      else keep(Math.min(rows - 1, row) * cols + Math.max(0, Math.min(cols - 1, col)));
    }
  });

  // ------------------------------------------------------------------------------------ files

  function numbers() {
    const {words, lens, adds, grids} = scene.value;
    const rows = grids
      .slice(1)
      .map((_, block) => [
        String(block),
        lens[block]?.name ?? '',
        lens[block]?.value ?? '',
        ...[0, 1].map((branch) => adds[block]?.[branch]?.toPrecision(4) ?? ''),
      ]);
    const value = scene.value.answers.length === 1 ? 'row_output' : 'row_value';
    const head = ['row_block', 'read_here', value, 'attention', 'mlp'].map((key) => words[key]);
    return [table(filled(words.picture, {blocks: rows.length}), head, rows, true)];
  }

  function pngOf(scale) {
    const canvas = make('canvas');
    paint(canvas, scale);
    return new Promise((done) => {
      canvas.toBlob(done, 'image/png');
    });
  }

  async function save(format) {
    const name = [scene.value.saved_as, textOf(kept).replace(',', '-')];
    if (format === 'csv') {
      const cells = [...numbers()[0].querySelectorAll('tr')].map((row) =>
        [...row.children].map((cell) => cell.textContent),
      );
      const lines = cells.map((row) => row.map(quoted).join(','));
      saveFile(csvFile(`${lines.join('\r\n')}\r\n`), fileName(name, 'csv'));
    } else saveFile(await pngOf(Number(format.slice(3))), fileName(name, 'png'));
  }

  offersPicture(root, () => (scene?.layout ? pngOf(2) : null));

  // ------------------------------------------------------------------------------------ values from Python

  function writeWords(value) {
    const {words, strip} = value;
    showHead(root, value);
    aside.show(value, ['png2', 'png4', 'csv']);
    const blocks = value.grids.length - 1;
    above.setAttribute('aria-label', spokenAfter(filled(words.picture, {blocks}), words.keys));
    setText(part('.hint'), words.hint);
    setText(part('.whole'), filled(words.follow, {token: value.whole_label}));
    for (const [name, key] of Object.entries({'.back': 'step_back', '.on': 'step_on', '.at': 'slider'}))
      part(name).setAttribute('aria-label', words[key]);
    part('.at').max = String(blocks + 2);
    film.label(words.record, words.recording);
    showSentence(part('.warning'), value.warning);
    const heads = Math.max(0, ...(strip?.blocks ?? []).map((block) => block.heads));
    const swatch = (color) => make('i', {style: {background: color}});
    const named = Array.from({length: heads <= LEGEND ? heads : 0}, (_, head) =>
      make('span', swatch(hueOf(head, heads)), filled(words.head, {head})),
    );
    const many = heads > LEGEND ? [make('span', filled(words.all_heads, {heads}))] : [];
    part('.legend').replaceChildren(
      make('span', swatch('#cbd5e1'), words.keeps),
      ...named,
      ...many,
      make('span', words.colours),
    );
  }

  /** Takes the token of the address, a patch of its block's grid, otherwise the token that Python chose. */
  function wanted() {
    const {grids, link, leads} = scene.value;
    const told = !leads && keptBy(link);
    if (told) return codeAt(told, scene.value, scene.image);
    const {query, block} = chosenInAddress();
    const here = grids[Math.min(Number(block || grids.length), grids.length - 2) + 1];
    const [row, col] = query.split(',').map(Number);
    if (!(row < here[0] && col < here[1])) return codeOf(props.value.query);
    return carried(row * here[1] + col, here, grids[0], scene.image);
  }

  async function show() {
    let value = props.value;
    const mine = ++turn;
    if (!value?.image) {
      root.toggleAttribute('data-empty', true);
      return;
    }
    const isSame = scene?.value.colours.url === value.colours.url;
    const {reading, adds, target} = value;
    if (!isSame || !value.asks) complete = {reading, adds, target};
    value = {...value, ...complete};
    const sent = codeOf(value.query, value);
    try {
      const [image, colours] = isSame
        ? [scene.image, null]
        : await Promise.all([fetchImage(value.image.url), fetchBytes(value.colours.url)]);
      await reads.take(value, sent, image);
      if (mine !== turn) return; // a newer value came meanwhile
      const tokens = colours ? tokenCanvases(new Uint8Array(colours), value.grids, value.hidden) : scene.tokens;
      const {layout = null, reads: read = [], code = sent} = isSame ? scene : {};
      scene = /** @type {any} */ ({value, image, tokens, layout, reads: read, code, now: moment(Infinity, 0)});
      showSentence(part('.failed'), '');
    } catch (error) {
      if (mine !== turn) return;
      console.warn('network:', error);
      showSentence(part('.failed'), value.words.failed);
      root.removeAttribute('data-empty');
      return;
    }
    writeWords(value);
    root.removeAttribute('data-empty');
    if (!isSame) {
      kept = wanted();
      pointed = null;
      pass.begin(value.grids.length - 1);
      if (!value.link) runAtFirst();
    }
    lay();
    follow();
    if (!isSame && value.leads) tell(true);
    root.dataset.ready = String(Number(root.dataset.ready ?? 0) + 1);
    if (!isSame) trigger('follow', {query: textOf(kept), target: chosenInAddress().target, whole: true});
    if (!isSame) root.removeAttribute('data-whole');
    if (above.matches(':hover, :focus')) approach();
  }

  onLink(() => {
    if (scene?.value.leads) keep(wanted());
  });
  new ResizeObserver(lay).observe(stage);
  root.gridOf = (row) => scene.layout.boxes[row + 1]; // where things are painted, for tests
  root.headOf = (block, head) => headBoxes(scene.layout, block + 2, scene.heads[block])[head];
  return show;
}
