// Teaching by examples: boxes at the left, the probe's live answer at the right, one picture at a time.

import {enterRoom, inAddress, onLink, writeAddress} from '../../../kit/address.js';
import {camera} from '../../../kit/camera.js';
import {filled, onFiles, setText, showSentence} from '../../../kit/dom.js';
import {followed} from '../../../kit/formats.js';
import {cameFrom} from '../../../kit/notices.js';
import {saveFile} from '../../../kit/saving.js';
import {post, sendPicture} from '../../../kit/sending.js';
import {answerView} from './teach_answer.js';
import {boxesView} from './teach_boxes.js';
import {nextStep} from './teach_step.js';
import {turns} from './teach_turns.js';

const SETTLED = 900; // milliseconds without a new example
const PATIENCE = 600; // milliseconds after which the progress is shown
const BETWEEN_STILLS = 250; // milliseconds between two stills while a button is held
const BETWEEN_ASKED = 120; // least milliseconds between two questions about the camera's picture
const STILL = 320; // side of a still in pixels

const pause = (time) =>
  new Promise((done) => {
    setTimeout(done, time);
  });
/** Parameters of an address that belong to the steps below. */
const LINKS = ['run', 'images', 'plan'];

/** @param {import('../../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const page = document.documentElement;
  const words = () => props.value?.words ?? {};
  let boxes = [];
  let most = {boxes: 0, pictures: 0};
  let read = false;
  let model = '';
  let question = /** @type {Blob | null} */ (null);
  let answer = /** @type {any} */ (null);
  let live = false;
  let held = /** @type {any} */ (null);
  let sure = false;
  let opening = ''; // note on the picture that is being opened

  const lens = camera(part('video'), () => {
    part('video').hidden = true;
    live = false;
    said();
  });
  const isSeen = () =>
    root.checkVisibility() && root.dataset.part === 'teach' && !document.hidden && Boolean(props.value?.model);
  const count = () => boxes.reduce((sum, {pictures}) => sum + pictures.length, 0);
  const here = () => ({model: props.value?.model, weights: props.value?.weights});

  const complain = (sentence) => {
    showSentence(part('.alert'), sentence);
    if (sentence && root.dataset.state === 'begin') root.dataset.state = 'empty';
  };

  /** Returns null where the server did not answer. */
  const asked = (what, parameters = {}, picture = undefined) =>
    post(`teach/${what}`, {...here(), ...parameters}, picture).catch(() => null);

  /** Returns the answer, or null after showing why there is none. */
  async function ask(what, parameters = {}, picture = undefined) {
    const came = await asked(what, parameters, picture);
    const found = (await came?.json().catch(() => null)) ?? {refused: words().image_lost};
    if (found.stopped) return null; // a newer question replaced it
    if (found.error || found.refused !== undefined) {
      complain(found.error || found.refused || words().image_lost);
      return null;
    }
    return found;
  }

  // ---- boxes

  function showBoxes(state) {
    if (!state) return;
    ({boxes, most} = state);
    view.show(boxes, words());
    if (state.others) seen.offer(state.others, words());
    said();
  }

  async function change(what, parameters = {}) {
    complain('');
    const state = await ask(what, parameters);
    showBoxes(state);
    if (state) schedule.taught();
    return state;
  }

  async function put(box, picture) {
    const came = await ask('add', {box: box.key}, picture);
    if (!came) return false;
    const now = boxes.find(({key}) => key === box.key);
    if (now && !now.pictures.some(({id}) => id === came.picture.id)) now.pictures.push(came.picture);
    if (now) view.showPictures(now, words());
    said();
    schedule.taught();
    return true;
  }

  async function add(box, files) {
    complain('');
    for (const [at, file] of files.entries()) {
      setText(part('.doing'), filled(words().teach_sending, {done: at + 1, total: files.length}));
      await put(box, file);
    }
    setText(part('.doing'), '');
  }

  async function hold(box) {
    held = box;
    complain('');
    if (!(await start())) return;
    while (held === box && lens.isOn()) {
      const begun = performance.now();
      const still = await lens.still(STILL);
      if (!still || !(await put(box, still))) break;
      await pause(Math.max(0, BETWEEN_STILLS - (performance.now() - begun)));
    }
  }

  const view = boxesView(part('.boxes'), {
    add,
    hold,
    letGo: (box) => {
      if (held === box) held = null;
    },
    async rename(box, name) {
      box.name = name;
      view.showPictures(box, words()); // the list is not redrawn: somebody may be typing the next name
      if (await ask('rename', {box: box.key, name})) schedule.taught();
    },
    remove: (box) => change('remove', {box: box.key}),
    drop: (box, {id}) => change('drop', {box: box.key, picture: id}),
  });

  // ---- answers

  const seen = answerView(part('.answer'), {
    correct: (key) => {
      const box = boxes.find((one) => one.key === key);
      if (box && question) put(box, question);
    },
    open: async (one) => {
      const came = await ask('open', {box: one.box, picture: one.id});
      if (came) lookCloser(came.image, one.came);
    },
    ask: async (address) => about(await (await fetch(address)).blob()),
  });

  const schedule = turns(
    {
      isSeen,
      async learn() {
        const came = count() ? await ask('learn') : null;
        if (came) setText(part('.doing'), came.doing);
        return Boolean(came?.left);
      },
      async score() {
        if (!isSeen()) return;
        const patience = setTimeout(() => seen.score({score: words().teach_scoring}, words()), PATIENCE);
        const came = count() ? await ask('score') : {};
        clearTimeout(patience);
        if (came) seen.score(came, words());
      },
      async ask() {
        const begun = performance.now();
        if (live && lens.isOn()) question = await lens.still(STILL);
        if (!question) {
          seen.clear(filledBoxes() < 2 ? words().teach_two : words().teach_none);
          return false;
        }
        const mine = question;
        const came = await ask('ask', {}, question);
        if (!came) {
          if (live) lens.stop();
          return false;
        }
        if (mine === question) await showAnswer(came);
        if (live) await pause(Math.max(0, BETWEEN_ASKED - (performance.now() - begun)));
        return live;
      },
    },
    SETTLED,
  );

  const filledBoxes = () => boxes.filter(({pictures}) => pictures.length).length;

  async function showAnswer(came) {
    answer = came;
    await seen.show(came, words(), live);
    said();
  }

  /** @param {Blob | null | undefined} picture test picture in place of the camera's */
  function about(picture) {
    if (!picture?.type.startsWith('image/')) return complain(words().image_none);
    complain('');
    lens.stop();
    question = picture;
    schedule.asks();
  }

  async function start() {
    const refused = await lens.start();
    complain(refused ? words()[refused] : '');
    live = !refused && lens.isOn();
    part('video').hidden = !live;
    if (live) part('.asked img').hidden = true;
    said();
    if (live) schedule.asks();
    return live;
  }

  function lookCloser(image, label) {
    opening = label;
    trigger('open', {image});
  }

  // ---- layout

  function said() {
    const text = words();
    const {title, weights} = props.value ?? {};
    const total = count();
    if (!text.teach_title) return;
    const isRandom = weights === 'random';
    const says = total ? filled(text.teach_says, {model: title, count: total}) : text.teach_begin;
    setText(part('.says'), isRandom ? followed(text.teach_random, says) : says);
    root.classList.toggle('random', isRandom);
    setText(part('h2'), text.teach_title);
    setText(part('.fill'), text.teach_fill);
    setText(part('.save'), text.teach_save);
    setText(part('.forget'), sure ? text.teach_sure : text.teach_forget);
    setText(part('.more'), text.teach_more);
    setText(part('.kept'), text.teach_kept);
    setText(part('.live'), live ? text.teach_stop : text.teach_live);
    setText(part('.choose'), text.teach_ask);
    setText(part('.ways .hint'), text.teach_ask_hint);
    setText(part('.closer'), text.teach_closer);
    setText(part('.compare'), total ? text.teach_compare : text.teach_compare_own);
    setText(part('.back'), `← ${text.teach_back}`);
    part('.save').disabled = part('.forget').disabled = !total;
    part('.more').disabled = boxes.length >= most.boxes;
    part('.closer').hidden = !answer || !question;
    showNext();
    if (boxes.length || root.dataset.part === 'compare') root.dataset.state = total ? 'taught' : 'empty';
  }

  function showNext() {
    const step = nextStep(filledBoxes(), Boolean(answer));
    for (const name of ['fill', 'live', 'compare']) part(`.${name}`).classList.toggle('primary', step === name);
    view.suggest(step === 'add' ? boxes.find(({pictures}) => !pictures.length) : undefined);
  }

  const isLinked = () => LINKS.some((name) => inAddress(name));

  function turnTo(key) {
    root.dataset.part = key;
    writeAddress({compare: key === 'compare' ? '1' : isLinked() ? '0' : ''});
    scrollTo({top: 0});
    if (key !== 'teach') lens.stop();
    else schedule.asks();
  }

  /** Opens the steps below for a link, or a step of the guided path, that belongs to them. */
  function follow() {
    const which = inAddress('compare');
    if (which === '1' || page.dataset.light === 'methods' || (which !== '0' && isLinked())) turnTo('compare');
  }

  async function show() {
    const value = props.value;
    if (!value?.model) return;
    said();
    if (!read) {
      read = true;
      showBoxes(await ask('boxes'));
    }
    const now = `${value.model} ${value.weights}`;
    if (now !== model) {
      model = now;
      answer = null;
      schedule.taught();
    }
    schedule.next();
  }

  // ---- events

  part('.fill').addEventListener('click', async () => {
    setText(part('.doing'), words().teach_drawing);
    const state = await change('fill');
    if (state) about(await (await fetch(state.others[0].image)).blob());
  });
  part('.save').addEventListener('click', async () => {
    const came = await asked('save');
    if (came?.ok) saveFile(await came.blob(), 'taught.zip');
    else complain(words().image_lost);
  });
  part('.forget').addEventListener('click', async () => {
    sure = !sure;
    if (sure) return said();
    question = answer = null;
    seen.offer([], words());
    await change('forget');
  });
  part('.forget').addEventListener('blur', () => {
    sure = false;
    said();
  });
  part('.more').addEventListener('click', () => change('more'));
  part('.live').addEventListener('click', () => {
    if (live) lens.stop();
    else start();
  });
  onFiles(part('.file'), ([picture]) => about(picture));
  part('.closer').addEventListener('click', async () => {
    const came = await sendPicture(question);
    const {came: label} = answer;
    if ('image' in came) lookCloser(came.image, label ?? words().teach_asked);
    else complain(came.refused || words().image_lost);
  });
  part('.compare').addEventListener('click', () => {
    turnTo('compare');
    if (count()) trigger('compare', {});
  });
  part('.back').addEventListener('click', () => turnTo('teach'));
  root.addEventListener('dragover', (event) => event.preventDefault());
  root.addEventListener('drop', (event) => {
    event.preventDefault();
    const files = [...event.dataTransfer.files];
    const key = event.target.closest('.box')?.dataset.key;
    const box = boxes.find((one) => one.key === key);
    if (box) add(box, files);
    else about(files[0]);
  });
  // Runs before the page's own paste handler: a picture that is pasted here is a test picture.
  document.addEventListener(
    'paste',
    (event) => {
      const file = [...event.clipboardData.files].find(({type}) => type.startsWith('image/'));
      if (!file || !isSeen()) return;
      event.stopPropagation();
      about(file);
    },
    true,
  );
  document.addEventListener('visibilitychange', () => schedule.next());
  document.addEventListener('vx-opened', () => {
    if (opening) cameFrom(opening, words(), () => enterRoom('finetune'));
    opening = '';
  });
  onLink(follow);
  addEventListener('popstate', follow);
  new MutationObserver(follow).observe(page, {attributeFilter: ['data-light']});
  new ResizeObserver(() => {
    if (!root.checkVisibility()) lens.stop();
    else schedule.next();
  }).observe(root);
  follow();
  return show;
}
