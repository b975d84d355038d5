// The guided path: a step brings the page into its state, lights up a part, asks, tells, and notices what was done.

import {inAddress, linkOpened, onGoing, onWritten, writeAddress} from '../kit/address.js';
import {filled, make, refill, setText} from '../kit/dom.js';
import {inLecture} from './lecture.js';
import {addressOf, isDone, pictureOf, remember, remembered, scrollFor} from './guide_progress.js';

/** What is lit up in a room, as the page's sheet has it. @type {Record<string, string>} */
const LIT = {
  board: '.vx-board .stage', stage: '.vx-canvas .stage', strip: '.vx-canvas .below', panel: '.vx-panel .stage',
  changes: '.vx-changes .side', methods: '#vx-step-methods',
};
const TURNS = {PageDown: 1, PageUp: -1};

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, trigger, watch}) {
  const root = element.querySelector('.vx-guide'), part = (selector) => root.querySelector(selector);
  const page = document.documentElement, progress = remembered();
  const isBare = !['model', 'room', 'view'].some(inAddress);  // a link that names a step and leaves its state to it
  let now = '';  // the step that is looked at; empty while the path is closed
  let isNew = false;  // to the eye: what is lit up is brought into view until a person moves the page themselves
  let shown = null;  // the last step that was told
  let isPrinting = false;
  let isLed = false;  // to another room, whose model may have other numbers: what was said of the first stays

  const steps = () => props.value?.steps ?? [];
  const at = () => steps().findIndex(({key}) => key === now);
  /** The step with its numbers; null until they are there. */
  const told = () => (shown?.key === now ? shown : null);

  // ---- where one is

  function show(key) {
    now = key;
    isLed = false;
    isNew = Boolean(now);
    root.hidden = !now;
    page.classList.toggle('vx-learning', Boolean(now));
    if (now) page.dataset.light = steps()[at()]?.light ?? '';
    else delete page.dataset.light;
    document.dispatchEvent(new CustomEvent('vx-learning', {detail: {open: Boolean(now)}}));
    if (now) {
      progress.step = now;
      remember(progress);
    }
    write();
  }

  /** Bring the page into a step's state, as a link does. */
  function enter(key) {
    const step = steps().find((one) => one.key === key);
    if (!step) return;
    show(key);
    lead(addressOf(step.state, key, location.search));
    part('h2').focus({preventScroll: true});
    root.scrollTo({top: 0});
  }

  /** @param {string} query */
  function lead(query, goes = 'pushState') {
    const isAnother = pictureOf(query) !== pictureOf(location.search);
    history[goes](history.state, '', `?${query}`);
    trigger('go', {query});
    document.dispatchEvent(new CustomEvent('vx-address'));
    linkOpened();
    if (!isAnother) tell();  // else the new capture says when it is there
  }

  function tell() {
    if (now && !isLed) trigger('tell', {step: now});
  }

  function close() {
    writeAddress({step: ''});
    show('');
    document.querySelector('.vx-rail .learn')?.focus();
  }

  onGoing(lead);  // who goes to a state of the page without the path goes the same way

  const turn = (by) => {
    const next = steps()[at() + by];
    if (next) enter(next.key);
  };

  // ---- what is lit up

  /** Between the bar and the sheet, however late the room gets its size. */
  function bring() {
    const where = isNew && LIT[page.dataset.light];
    const lit = where && [...document.querySelectorAll(where)].find((one) => one.checkVisibility());
    if (!lit) return;
    const place = lit.getBoundingClientRect(), sheet = root.getBoundingClientRect();
    const bar = parseFloat(getComputedStyle(page).scrollPaddingTop);  // of bar and notices
    const top = Math.max(bar, parseFloat(getComputedStyle(lit).scrollMarginTop));  // what else stays above it
    const isBelow = sheet.left < place.right && place.left < sheet.right;
    const by = scrollFor(place, top, isBelow ? sheet.top : innerHeight);
    if (by) scrollBy(0, by);
  }

  new ResizeObserver(bring).observe(document.body);
  for (const name of ['wheel', 'touchmove', 'pointerdown', 'keydown']) {
    addEventListener(name, ({target}) => { if (!root.contains(/** @type {Node} */ (target))) isNew = false; }, {passive: true});
  }

  // ---- what is written

  function write() {
    const {words} = props.value, list = steps(), index = at(), text = told();
    if (index < 0) return;
    const {key, title} = list[index];
    root.setAttribute('aria-label', words.learn);
    setText(part('.of'), isPrinting ? '' : filled(words.learn_of, {step: index + 1, steps: list.length}));
    setText(part('h2'), title);
    setText(part('.close'), '×');
    part('.close').title = part('.close').ariaLabel = words.learn_close;
    refill(part('.steps'), ...list.map((step, i) => make('li', {}, make('button', {
      type: 'button', title: `${i + 1} · ${step.title}`, ariaLabel: `${i + 1} · ${step.title}`, onclick: () => enter(step.key),
      className: progress.done[step.key] ? 'done' : '', ...(i === index ? {ariaCurrent: 'step'} : {}),
    }))));
    setText(part('.handout'), words.learn_handout);
    part('.handout').title = words.learn_handout_title;
    part('.handout').disabled = isPrinting;
    setText(part('.written'), isPrinting ? words.learn_handout_wait : '');
    part('.before').disabled = index === 0;
    part('.next').disabled = index === list.length - 1;
    setText(part('.before'), words.learn_before);
    setText(part('.next'), words.learn_next);
    setText(part('.wait'), text ? '' : words.learn_wait);
    setText(part('.refused'), text?.refused ?? '');
    const isTold = Boolean(text && !text.refused);
    for (const name of ['.says', '.formula', '.ask', '.do']) part(name).hidden = !isTold;
    bring();
    if (isTold) writeText(text, words, key);
  }

  function writeText(text, words, key) {
    const answer = progress.answers[key], isAnswered = answer !== undefined, isRight = answer === text.right;
    setText(part('.says'), text.says);
    setText(part('.formula'), text.formula);
    setText(part('.ask h3'), words.learn_question);
    setText(part('.asks'), text.asks);
    refill(part('.choices'), ...text.choices.map((choice, i) => make('button', {
      type: 'button', textContent: choice, ariaPressed: String(i === answer), onclick: () => choose(i),
      className: isAnswered && i === text.right ? 'right' : '',
    })));
    part('.reveal').hidden = !isAnswered;
    part('.reveal').classList.toggle('right', isRight);
    setText(part('.reveal'), isAnswered ? `${isRight ? words.learn_right : words.learn_wrong} ${text.reveal}` : '');
    part('.do').hidden = !isAnswered;
    setText(part('.do h3'), words.learn_to_do);
    setText(part('.action'), text.action);
    part('.lead').hidden = !Object.keys(text.leads).length;
    setText(part('.lead'), words.learn_lead);
    setText(part('.did'), progress.done[key] ? words.learn_done : '');
    part('.formula').hidden = !isAnswered;
  }

  function choose(answer) {
    progress.answers[now] ??= answer;  // what one thought first is what one thought
    remember(progress);
    write();
    notice();
  }

  /** Whether what was asked for is done; only after the question, so that the order stays the path's. */
  function notice() {
    const text = told();
    if (!text || text.refused || progress.done[now] || progress.answers[now] === undefined) return;
    if (!isDone(text.becomes, location.search)) return;
    progress.done[now] = true;
    remember(progress);
    write();
  }

  // ---- what is heard

  part('.close').addEventListener('click', close);
  part('.handout').addEventListener('click', () => {
    isPrinting = true;
    write();
    trigger('handout', {paper: true});
  });
  part('.before').addEventListener('click', () => turn(-1));
  part('.next').addEventListener('click', () => turn(1));
  part('.lead').addEventListener('click', () => {
    isLed = true;
    lead(addressOf({...steps()[at()].state, ...told().leads}, now, location.search));
  });
  document.addEventListener('vx-learn', () => {
    if (now) close();
    else enter(steps().some(({key}) => key === progress.step) ? progress.step : steps()[0]?.key);
  });
  document.addEventListener('vx-ready', tell);
  document.addEventListener('vx-refused', ({detail}) => {
    if (!detail.asked.paper) return;
    isPrinting = false;
    write();
  });
  onWritten(notice);
  addEventListener('popstate', () => {
    const step = inAddress('step');
    if (step === now || (step && !steps().some(({key}) => key === step))) return;
    show(step);
    tell();
  });
  document.addEventListener('keydown', (event) => {
    const by = TURNS[event.key], {target} = event;
    if (!by || !now || !(inLecture() || target === document.body || root.contains(/** @type {Node} */ (target)))) return;
    event.preventDefault();
    event.stopPropagation();
    turn(by);
  }, true);

  function sync() {
    if (!props.value) return;
    const {handout} = props.value;
    if (handout && isPrinting) {
      isPrinting = false;
      make('a', {href: handout.url, download: handout.name}).click();
    }
    if (!handout) ({shown} = props.value);
    const step = inAddress('step');
    const found = steps().find(({key}) => key === step);
    if (!now && found) {
      show(step);
      if (isBare) lead(addressOf(found.state, step, location.search), 'replaceState');
    } else if (now) write();
    notice();
  }

  watch('value', sync);
  sync();
}
