// The room Words: texts, the picture with the map of one text or the best text of each patch, and all methods.
//
// Python sends the maps of all texts by all methods once; text, method, scale and pointing are answered here.

import {barOf, wordOf} from '../../canvas/colours.js';
import {fetchImage, newFetcher} from '../../canvas/fetching.js';
import {drawing} from '../../canvas/figure.js';
import {cellAt, gridOf} from '../../canvas/grids.js';
import {newPainter, paintThumb, putCells} from '../../canvas/picture.js';
import {listenToKeys, listenToPointer} from '../../canvas/pointing.js';
import {firstState} from '../../canvas/selection.js';
import {hearDisplay, takeDisplay} from '../../canvas/sharing.js';
import {goTo, writeAddress} from '../../kit/address.js';
import {filled, make, onFiles, refill, setText, showSentence, table} from '../../kit/dom.js';
import {inARow, labelled, listed, measured, percent} from '../../kit/formats.js';
import {newAside, showHead} from '../../kit/frame.js';
import {ARROWS, nearest} from '../../kit/grid.js';
import {newBlending} from '../../kit/motion.js';
import {csvFile, drawingFile, fileName, offersPicture, pngFile, quoted, saveFile} from '../../kit/saving.js';
import {sendFiles} from '../../kit/sending.js';
import {correlation, extremes, pythonOf, rangeOf, sharesOf, textsOf, unpacked} from './numbers.js';
import {textFields} from './text_fields.js';

const OVER = 0.6; // opacity of the colours of texts over the picture, as in saved figures
const MOST = 6;
const ALL = -1; // stands for the best text of each patch in place of a text
const FOLLOWS = 0.8; // correlation from which a map is that of another text too
const DENIAL = /^(no |not |without |没有)/i;
const FORMATS = ['png2', 'png4', 'svg', 'csv'];

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const view = part('.view');
  const paint = newPainter();
  const blending = newBlending(schedule);
  const {fetchBytes} = newFetcher();
  const aside = newAside(root, save, () => (maps() ? [numbersTable()] : null));
  const fields = textFields(part('.fields'), {apply, choose, drop});
  const display = firstState();
  let value = /** @type {any} */ (null); // the latest answer with numbers, or the sentence of a model without texts
  let image = /** @type {HTMLImageElement | null} */ (null);
  let numbers = /** @type {Map<string, import('./numbers.js').MethodMaps>} */ (new Map());
  let method = '';
  let aim = ''; // method that a person waits for
  let text = 0;
  let stretches = false;
  let hover = /** @type {import('../../canvas/grids.js').Place | null} */ (null);
  let pinned = /** @type {number | null} */ (null);
  let asked = 0;
  let taken = 0; // number of the latest value that replaced the texts
  let sequence = 0;
  let frame = 0;

  // ------------------------------------------------------------------------------------ what is on the screen

  const maps = () => numbers.get(method) ?? null;
  const isAll = () => text === ALL;
  const grid = () => gridOf(value, image, 'keys');
  const cell = () => (hover && value ? cellAt(grid(), hover) : null) ?? pinned;
  const item = () => value.methods.find(({key}) => key === method);
  const range = () => rangeOf(stretches && !isAll() ? [maps().maps[text]] : maps().maps);
  const rowOf = (patch) => Math.floor(patch / value.cols);
  const at = (patch) => ({row: rowOf(patch), col: patch % value.cols});

  /** @returns {import('../../canvas/picture.js').Scene} */
  function sceneNow() {
    const {low, high} = range();
    const {best, maps: all} = maps();
    const patch = cell();
    return {
      image,
      grid: grid(),
      map: isAll() ? new Float32Array(best) : all[text].map((number) => number - low),
      mask: null,
      fine: null,
      window: null,
      top: high - low,
      mode: isAll() ? 'overlay' : display.mode,
      colormap: display.colormap,
      opacity: display.opacity,
      smooth: display.smooth && !isAll(),
      frames: patch === null ? [] : [{grid: grid(), cell: patch, role: 'key'}],
      paints: isAll() ? Array.from(best, (winner) => [...rgb(value.colours[winner]), OVER]) : null,
    };
  }

  const rgb = (hex) => [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16));

  function reading() {
    const {words, texts} = value;
    if (isAll()) {
      const shares = sharesOf(maps().best, texts.length)
        .map((share, which) => ({share, text: texts[which]}))
        .filter(({share}) => share)
        .sort((one, other) => other.share - one.share)
        .map(({share, text: name}) => filled(words.quoted, {text: name, share: percent(share)}));
      return filled(words.of_patches, {shares: listed(shares)});
    }
    const map = maps().maps[text];
    const {most, least} = extremes(map);
    if (map[most] === map[least]) return filled(words.alike, {text: texts[text]});
    const low = at(least);
    return filled(words.reading, {
      text: texts[text],
      ...at(most),
      most: measured(map[most]),
      low_row: low.row,
      low_col: low.col,
      least: measured(map[least]),
    });
  }

  /** Compares the map with that of the first text, of which its text may be the denial. */
  function besideFirst() {
    const {words, texts} = value;
    const number = text > 0 ? correlation(maps().maps[0], maps().maps[text]) : Number.NaN;
    if (Number.isNaN(number)) return '';
    const denies = DENIAL.test(texts[text]) && number > FOLLOWS;
    const alike = filled(words.like_first, {text: texts[text], first: texts[0], number: measured(number)});
    return inARow([alike, denies ? words.denied : '']);
  }

  const noteNow = () => {
    const {words, texts} = value;
    if (texts.length < 2) return words.scale_one;
    return stretches ? words.scale_own : words.scale_all;
  };

  // ------------------------------------------------------------------------------------ painting

  function schedule() {
    if (!frame) frame = requestAnimationFrame(repaint);
  }

  function repaint() {
    frame = 0;
    const box = view.getBoundingClientRect();
    if (!value?.rows || !maps() || !box.width) return;
    paint(view, box, sceneNow());
    blending.over();
    showPatch();
  }

  /** Shows the numbers of the pointed patch beside the texts. */
  function showPatch() {
    const patch = cell();
    fields.meter(patch === null ? null : maps().maps.map((map) => map[patch]), rangeOf(maps().maps));
    setText(part('.hint'), patch === null ? value.words.point : filled(value.words.at_patch, at(patch)));
    root.dataset.patch = patch === null ? '' : `${rowOf(patch)},${patch % value.cols}`;
  }

  function showScale() {
    const {low, high} = range();
    part('.scale').hidden = isAll();
    setText(part('.low'), measured(low));
    setText(part('.high'), measured(high));
    setText(part('.unit'), item().unit);
    putCells(part('.ramp'), 256, 1, (inks) => {
      barOf(display.mode, display.colormap).forEach((colour, level) => {
        inks[level] = wordOf([...colour, 1]);
      });
    });
    refill(part('.legend'), ...(isAll() ? legend().map(({colour, text: name}) => swatch(colour, name)) : []));
    part('.range').hidden = isAll();
    part('.stretch').checked = stretches;
    part('.stretch').disabled = value.texts.length < 2;
    setText(part('.note'), noteNow());
  }

  /** Tells if a method points at what the chosen text means; null where that is not known. */
  const hit = (key) => (isAll() ? null : (numbers.get(key)?.hits?.[text] ?? null));

  const swatch = (colour, name) => make('li', {style: {'--ink': colour}}, make('span', {dir: 'auto'}, name));
  const legend = () => {
    const shares = sharesOf(maps().best, value.texts.length);
    return value.texts.map((name, which) => ({
      colour: value.colours[which],
      text: `${percent(shares[which])} ${name}`,
    }));
  };

  function showMethods() {
    const {methods, words, senseless, rows, cols} = value;
    refill(
      part('.methods'),
      ...methods.map(({key, title, goes_back}) => {
        const known = numbers.get(key);
        const thumb = make('canvas', {ariaHidden: 'true'});
        if (known) paintTile(thumb, known, rows, cols);
        return make(
          'button',
          {
            ariaPressed: String(key === method),
            dataset: {method: key},
            title: goes_back && !known ? filled(words.slope_help, {method: title}) : '',
            onclick: () => chooseMethod(key),
          },
          known ? thumb : make('span.slope', words.slope),
          make('span.title', {dataset: {hit: String(hit(key))}}, title),
        );
      }),
    );
    const {title, changes} = item();
    const against = {true: words.hit, false: words.miss}[String(hit(method))] ?? '';
    refill(part('.changes'), make('b', filled(words.named, {name: title})), ` ${inARow([changes, against])}`);
    part('.senseless').hidden = !senseless.length;
    setText(part('.senseless summary'), filled(words.senseless, {count: senseless.length}));
    refill(
      part('.senseless ul'),
      ...senseless.map(({title: name, why}) => make('li', make('b', filled(words.named, {name})), ` ${why}`)),
    );
  }

  /** Paints a method's tile: the map of the chosen text on the scale of all texts, or the best texts. */
  function paintTile(canvas, {maps: all, best}, rows, cols) {
    if (isAll()) {
      putCells(canvas, cols, rows, (inks) => {
        best.forEach((winner, patch) => {
          inks[patch] = wordOf([...rgb(value.colours[winner]), 1]);
        });
      });
      return;
    }
    const {low, high} = rangeOf(stretches ? [all[text]] : all);
    const map = all[text].map((number) => number - low);
    paintThumb(canvas, map, null, high - low, display.colormap, rows, cols, null);
  }

  /** Shows everything that depends on the chosen text and method. */
  function refresh() {
    if (!value?.rows || !maps()) return;
    const {words, texts} = value;
    const python = isAll() ? value.python_all : method === 'text_decomposition' ? value.python_beside : value.python;
    const chosen = isAll() ? 0 : text;
    const lines = texts.length > 1 || isAll() ? python : value.python;
    const now = {
      ...value,
      question: isAll() ? value.question_all : value.question,
      misleads: isAll() ? value.misleads_all : value.misleads,
      reading: reading(),
      python: pythonOf(lines, {text: texts[chosen], texts, number: chosen, method}),
    };
    showHead(root, now);
    aside.show(now, FORMATS);
    fields.mark(isAll() ? null : text);
    part('.all').ariaPressed = String(isAll());
    part('.all').disabled = texts.length < 2;
    part('.all').title = texts.length < 2 ? words.all_one : '';
    part('.apart').title = filled(words.apart_help, {number: chosen + 1});
    setText(part('.beside'), besideFirst());
    showScale();
    showMethods();
    view.setAttribute('aria-label', labelled(words.image, now.reading));
    Object.assign(root.dataset, {state: 'ready', method, text: isAll() ? 'all' : text + 1});
    schedule();
  }

  // ------------------------------------------------------------------------------------ choices

  function choose(which) {
    if (!maps() || which === text) return;
    blending.from([view]);
    text = which;
    tell();
    refresh();
  }

  function chooseMethod(key) {
    if (key === method) return;
    if (numbers.has(key)) {
      blending.from([view]);
      method = key;
      aim = '';
      tell();
      refresh();
    } else {
      aim = key;
      further(key);
    }
  }

  /** Writes the choice into the address; vectors of a file have no sentences that a link could name. */
  function tell() {
    const {texts, methods, reads} = value;
    writeAddress({
      texts: reads ? texts.join(';') : '',
      text: isAll() ? 'all' : text ? text + 1 : '',
      method: method === methods[0].key ? '' : method,
    });
  }

  /** @param {{texts?: string[], files?: string[], key?: string}} question */
  function ask(question) {
    asked += 1;
    root.dataset.asked = String(asked);
    trigger('ask', {...question, what: item()?.goes_back ? '' : method, asked});
  }

  /** Asks for the maps of one more method, which takes longer. @param {string} key */
  function further(key) {
    asked += 1;
    const {title} = value.methods.find((one) => one.key === key);
    showSentence(part('.busy'), key === aim ? filled(value.words.working, {method: title}) : '');
    trigger('further', {what: key, asked});
  }

  /** Applies the fields; a field that is empty or too long gets a sentence. @param {number} [field] */
  function apply(field = -1) {
    const written = fields.written();
    const {words, longest} = value;
    const reasons = Object.fromEntries(
      written.flatMap((one, place) => {
        const count = one.length;
        if (count > longest) return [[place, filled(words.too_long, {count, most: longest})]];
        return place === field && !one.trim() ? [[place, words.empty]] : [];
      }),
    );
    fields.refuse(reasons);
    if (Object.keys(reasons).length) return;
    const texts = textsOf(written).slice(0, MOST);
    fields.show(texts, value);
    ask({texts});
  }

  function drop(field) {
    const rest = fields.written().filter((_, place) => place !== field);
    fields.show(rest, value);
    if (value.reads && textsOf(rest).length) apply();
  }

  function add(written = '') {
    const now = fields.written();
    const free = now.findIndex((one) => !one.trim());
    if (free < 0 && now.length >= MOST) return now.length - 1;
    const place = free < 0 ? now.length : free;
    if (free < 0) fields.show([...now, ''], value);
    fields.write(written, place);
    showAdd();
    return place;
  }

  const showAdd = () => {
    part('.add').hidden = part('.apart').hidden = !value.reads;
    part('.add').disabled = fields.count() >= MOST;
  };

  part('.add').addEventListener('click', () => {
    fields.focus(add());
    fields.score(value);
  });
  part('.apart').addEventListener('click', () => {
    ask({texts: [value.texts[isAll() ? 0 : text]], key: 'apart'});
    text = 0;
  });
  part('.all').addEventListener('click', () => choose(isAll() ? 0 : ALL));
  part('.stretch').addEventListener('change', ({target}) => {
    blending.from([view]);
    stretches = target.checked;
    refresh();
  });

  /** Fills a field with an example: the one that has the focus, else a new one. */
  function takeExample(example) {
    const written = fields.written();
    if (written.includes(example)) return;
    if (written.length >= MOST && written.every((one) => one.trim())) fields.write(example, MOST - 1);
    else add(example);
    apply();
  }

  onFiles(part('.file'), async ([file]) => {
    const {words} = value;
    showSentence(part('.opening .refused'), '');
    const tellShare = (share) => showSentence(part('.notice'), filled(words.sending, {share: percent(share)}));
    const came = await sendFiles([file], tellShare);
    showSentence(part('.notice'), '');
    if (came.files) ask({files: came.files});
    else showSentence(part('.opening .refused'), came.refused || words.lost);
  });

  // ------------------------------------------------------------------------------------ pointing

  const ready = () => Boolean(value?.rows && maps());
  const pick = (patch) => {
    pinned = pinned === patch ? null : patch;
    schedule();
  };
  listenToPointer(view, {
    ready,
    aimed: grid,
    queries: grid,
    hovered: () => hover,
    followed: () => cellAt(grid(), hover),
    hover(place) {
      hover = place;
      schedule();
    },
    pick,
  });

  function move([down, right]) {
    const from = cell() ?? extremes(maps().maps[isAll() ? 0 : text]).most;
    const [row, col] = nearest([rowOf(from) + down, (from % value.cols) + right], value);
    hover = null;
    pinned = row * value.cols + col;
    schedule();
  }

  listenToKeys(view, ready, {
    ...Object.fromEntries(Object.entries(ARROWS).map(([key, step]) => [key, () => move(step)])),
    Escape: () => {
      [hover, pinned] = [null, null];
      schedule();
    },
  });
  hearDisplay(root, display, refresh);
  new ResizeObserver(schedule).observe(view);

  // ------------------------------------------------------------------------------------ files

  const titleNow = () => (isAll() ? value.question_all : `“${value.texts[text]}” · ${item().title}`);

  function figureNow() {
    const {low, high} = range();
    return drawing({
      scene: {...sceneNow(), frames: []},
      title: titleNow(),
      ticks: [low, (low + high) / 2, high].map(measured),
      unit: item().unit,
      lines: [
        ...value.caption,
        `${filled(value.words.named, {name: item().title})} ${item().changes}`,
        isAll() ? '' : noteNow(),
      ],
      warning: '',
      legend: isAll() ? legend() : undefined,
    });
  }

  function csv() {
    const lines = Array.from({length: value.rows * value.cols}, (_, patch) =>
      [rowOf(patch), patch % value.cols, ...maps().maps.map((map) => map[patch])].join(','),
    );
    return `${[`row,col,${value.texts.map(quoted).join(',')}`, ...lines].join('\n')}\n`;
  }

  async function save(format) {
    if (!maps()) return;
    const name = fileName([value.saved_as, method, isAll() ? 'all' : `text${text + 1}`], format.slice(0, 3));
    saveFile(format === 'csv' ? csvFile(csv()) : await drawingFile(figureNow(), format), name);
  }

  function numbersTable() {
    const {words, rows, cols, texts} = value;
    const numberAt = (patch) => (isAll() ? texts[maps().best[patch]] : measured(maps().maps[text][patch]));
    const across = [...Array(cols).keys()];
    const lines = [...Array(rows).keys()].map((row) => [
      String(row),
      ...across.map((col) => numberAt(row * cols + col)),
    ]);
    return table(titleNow(), [words.row_by_col, ...across.map(String)], lines, true);
  }

  offersPicture(root, () => (maps() && value.rows ? pngFile(figureNow(), 2) : null));

  // ------------------------------------------------------------------------------------ values from Python

  function showWords() {
    const {words, examples, reads} = value;
    setText(part('.texts h3'), words.texts);
    setText(part('.add'), words.add);
    setText(part('.all'), words.all);
    setText(part('.apart'), words.apart);
    setText(part('.range h3'), words.scale);
    setText(part('.check span'), words.stretch);
    setText(part('.file-label'), words.file);
    setText(part('.how'), value.how);
    part('.methods').setAttribute('aria-label', words.methods);
    part('.examples').setAttribute('aria-label', words.examples);
    refill(
      part('.examples'),
      ...(reads ? examples : []).map((example) =>
        make('button', {dir: 'auto', onclick: () => takeExample(example)}, example),
      ),
    );
    showSentence(part('.notice'), value.notice);
    showOffers();
  }

  function showOffers() {
    refill(
      part('.offers'),
      ...value.offers.map(({title, address}) =>
        make(value.rows ? 'button.offer' : 'button.offer.primary', {onclick: () => goTo(address)}, title),
      ),
    );
  }

  /** Shows the picture and the sentence of a model without texts. */
  function showNone() {
    root.dataset.state = value.is_away ? 'away' : 'none';
    showHead(root, value);
    aside.show(value);
    showOffers();
    setText(part('.vectors'), value.vectors);
    const seen = /** @type {HTMLImageElement} */ (part('.seen'));
    seen.onload = () => root.style.setProperty('--aspect', String(seen.naturalWidth / seen.naturalHeight));
    Object.assign(seen, {src: value.image.url, alt: value.words.image});
    setText(part('.file-label'), value.words.file);
    part('.opening .button').hidden = !value.vectors;
  }

  function refuse({refused}) {
    fields.refuse(refused);
    showSentence(part('.opening .refused'), refused[-1] ?? (fields.count() ? '' : Object.values(refused)[0]) ?? '');
  }

  async function load(next) {
    const mine = ++sequence;
    const isNew = next.filled !== 0;
    if (!next.numbers) {
      if (isNew) value = next;
      refuse(next);
      return;
    }
    const isSameImage = value?.image?.url === next.image.url && image;
    const [bytes, picture] = await Promise.all([
      fetchBytes(next.numbers.url),
      isSameImage ? image : fetchImage(next.image.url),
    ]);
    if (mine !== sequence) return;
    const isSame = !isNew && String(value?.texts) === String(next.texts);
    const coming = unpacked(bytes, next);
    for (const [key, known] of coming) known.hits = next.hits[key];
    numbers = isSame ? new Map([...numbers, ...coming]) : coming;
    [value, image] = [next, picture];
    if (!isSame) aim = next.method || (item()?.goes_back ? method : '');
    const isChosen = !isNew && (!isSame || coming.has(aim)); // by a person; other methods are fetched ahead
    if (isChosen) blending.from([view]);
    const isKnown = (key) => numbers.has(key);
    if (isKnown(aim)) [method, aim] = [aim, ''];
    else if (!isKnown(method)) method = value.methods.find(({key}) => isKnown(key)).key;
    if (isNew && next.text) text = next.text === 'all' ? ALL : Number(next.text) - 1;
    if (isAll() ? next.texts.length < 2 : text >= next.texts.length) text = 0;
    if (isNew) pinned = null;
    root.style.setProperty('--aspect', image.naturalWidth / image.naturalHeight);
    takeDisplay(display);
    const at = fields.focused();
    if (isNew || at < 0 || textsOf(fields.written()).join() === next.texts.join()) fields.show(next.texts, next);
    showWords();
    fields.score(next);
    refuse(next);
    showAdd();
    if (isChosen) tell();
    refresh();
    root.dataset.shown = String((Number(root.dataset.shown) || 0) + 1);
    const missing = value.methods.filter(({key, goes_back}) => !isKnown(key) && (key === aim || !goes_back));
    if (missing.length) further((missing.find(({key}) => key === aim) ?? missing[0]).key);
  }

  return () => {
    const next = props.value;
    if (!next) return;
    if (next.filled) {
      if (next.filled === taken) return; // sent again at the end of its event
      taken = next.filled;
    } else if (next.asked < asked) return;
    showSentence(part('.busy'), '');
    if (!next.rows) {
      sequence += 1;
      value = next;
      numbers = new Map();
      if (next.filled) showNone();
      return;
    }
    load(next).catch((error) => console.warn('words:', error));
  };
}
