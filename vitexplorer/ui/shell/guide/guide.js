// Guided path: a step sets the state of the page, highlights a part, asks a question, explains, and checks the task.

import {inAddress, linkOpened, onGoing, onWritten, writeAddress} from '../../kit/address.js';
import {filled, make, refill, setText, visible} from '../../kit/dom.js';
import {inLecture} from '../lecture.js';
import {addressBefore, addressOf, isDone, loadProgress, pictureOf, saveProgress, scrollFor} from './guide_progress.js';

/** Selectors of the highlighted parts, the same as in the page's style sheet. @type {Record<string, string>} */
const HIGHLIGHTS = {
  board: '.vx-board .stage',
  stage: '.vx-canvas .stage',
  strip: '.vx-canvas .below',
  panel: '.vx-panel .stage',
  changes: '.vx-changes .side',
  methods: '#vx-step-methods',
  words: '.vx-words .stage',
};
const TURNS = {PageDown: 1, PageUp: -1};

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const page = document.documentElement;
  const progress = loadProgress();
  const isBare = !['model', 'room', 'view'].some(inAddress); // the link names a step but none of its state
  let current = ''; // key of the open step; empty while the path is closed
  let isScrolling = false; // true until a person moves the page: keep the highlighted part in view
  let lastText = null; // the last text with numbers that Python sent
  let isPrinting = false;
  let sheet = null; // tab of the handout, which opens at the press: a browser opens none long after it
  let before = ''; // parameters when a person opened the path; empty where a link did
  let isLed = false; // true in another room, whose model may have other numbers: the text stays that of the first

  const steps = () => props.value?.steps ?? [];
  const at = () => steps().findIndex(({key}) => key === current);
  /** The open step's text with its numbers; null until they arrive. */
  const currentText = () => (lastText?.key === current ? lastText : null);

  // ---- steps

  function show(key) {
    current = key;
    isLed = false;
    isScrolling = Boolean(current);
    root.hidden = !current;
    page.classList.toggle('vx-learning', Boolean(current));
    if (current) page.dataset.light = steps()[at()]?.light ?? '';
    else delete page.dataset.light;
    document.dispatchEvent(new CustomEvent('vx-learning', {detail: {open: Boolean(current)}}));
    if (current) {
      progress.step = current;
      saveProgress(progress);
    }
    write();
  }

  /** Sets the page to a step's state, as a link does. */
  function enter(key) {
    const step = steps().find((candidate) => candidate.key === key);
    if (!step) return;
    show(key);
    lead(addressOf(step.state, key, location.search));
    part('h2').focus({preventScroll: true});
    root.scrollTo({top: 0});
  }

  /** @param {string} query */
  function lead(query, method = 'pushState') {
    const isNewPicture = pictureOf(query) !== pictureOf(location.search);
    history[method](history.state, '', `?${query}`);
    trigger('go', {query});
    linkOpened();
    if (!isNewPicture) requestText(); // otherwise `vx-ready` requests it when the new capture arrives
  }

  function requestText() {
    if (current && !isLed) trigger('tell', {step: current});
  }

  /** Closes the path and gives back model, room and settings. */
  function close() {
    show('');
    if (before) lead(addressBefore(before, location.search));
    else writeAddress({step: ''});
    before = '';
    document.querySelector('.vx-rail .learn')?.focus();
  }

  onGoing(lead); // other parts of the page change its state the same way

  const turn = (by) => {
    const next = steps()[at() + by];
    if (next) enter(next.key);
  };

  // ---- highlight

  /** Scrolls the highlighted part between the top bar and the sheet, even if the room gets its size late. */
  function scrollToHighlight() {
    const selector = isScrolling && HIGHLIGHTS[page.dataset.light];
    const lit = selector && visible(selector);
    if (!lit) return;
    const place = lit.getBoundingClientRect();
    const sheet = root.getBoundingClientRect();
    const bar = parseFloat(getComputedStyle(page).scrollPaddingTop); // height of bar and notices
    const top = Math.max(bar, parseFloat(getComputedStyle(lit).scrollMarginTop)); // room for what stays above the part
    const isBelow = sheet.left < place.right && place.left < sheet.right;
    const by = scrollFor(place, top, isBelow ? sheet.top : innerHeight);
    if (by) scrollBy(0, by);
  }

  new ResizeObserver(scrollToHighlight).observe(document.body);
  for (const name of ['wheel', 'touchmove', 'pointerdown', 'keydown']) {
    addEventListener(
      name,
      ({target}) => {
        if (!root.contains(/** @type {Node} */ (target))) isScrolling = false;
      },
      {passive: true},
    );
  }

  // ---- texts

  function write() {
    const {words} = props.value;
    const list = steps();
    const index = at();
    const text = currentText();
    if (index < 0) return;
    const {key, title, state, model} = list[index];
    root.setAttribute('aria-label', words.learn);
    setText(part('.of'), isPrinting ? '' : filled(words.learn_of, {step: index + 1, steps: list.length}));
    setText(part('h2'), title);
    const borrows = before && new URLSearchParams(before).get('model') !== state.model;
    setText(part('.borrows'), borrows ? filled(words.learn_borrows, {model}) : '');
    setText(part('.close'), '×');
    part('.close').title = part('.close').ariaLabel = words.learn_close;
    refill(
      part('.steps'),
      ...list.map((step, i) =>
        make(
          'li',
          make('button', {
            title: `${i + 1} · ${step.title}`,
            ariaLabel: `${i + 1} · ${step.title}`,
            onclick: () => enter(step.key),
            className: progress.done[step.key] ? 'done' : '',
            ...(i === index ? {ariaCurrent: 'step'} : {}),
          }),
        ),
      ),
    );
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
    const hasNumbers = Boolean(text && !text.refused);
    for (const name of ['.says', '.formula', '.ask', '.do']) part(name).hidden = !hasNumbers;
    scrollToHighlight();
    if (hasNumbers) writeText(text, words, key);
  }

  function writeText(text, words, key) {
    const answer = progress.answers[key];
    const isAnswered = answer !== undefined;
    const isRight = answer === text.right;
    setText(part('.says'), text.says);
    setText(part('.formula'), text.formula);
    setText(part('.ask h3'), words.learn_question);
    setText(part('.asks'), text.asks);
    refill(
      part('.choices'),
      ...text.choices.map((choice, i) =>
        make(
          'button',
          {
            ariaPressed: String(i === answer),
            onclick: () => choose(i),
            className: isAnswered && i === text.right ? 'right' : '',
          },
          choice,
        ),
      ),
    );
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
    progress.answers[current] ??= answer; // the first answer counts
    saveProgress(progress);
    write();
    part('.reveal').scrollIntoView({block: 'nearest'});
    checkTask();
  }

  /** Marks the task as done when the address says so; only after the question is answered. */
  function checkTask() {
    const text = currentText();
    if (!text || text.refused || progress.done[current] || progress.answers[current] === undefined) return;
    if (!isDone(text.becomes, location.search)) return;
    progress.done[current] = true;
    saveProgress(progress);
    write();
  }

  // ---- events

  part('.close').addEventListener('click', close);
  part('.handout').addEventListener('click', () => {
    isPrinting = true;
    write();
    sheet = open('', '_blank');
    if (sheet) sheet.document.body.textContent = props.value.words.learn_handout_wait;
    trigger('handout', {paper: true});
  });
  part('.before').addEventListener('click', () => turn(-1));
  part('.next').addEventListener('click', () => turn(1));
  part('.lead').addEventListener('click', () => {
    isLed = true;
    lead(addressOf({...steps()[at()].state, ...currentText().leads}, current, location.search));
  });
  document.addEventListener('vx-learn', () => {
    if (current) return close();
    before = location.search;
    enter(steps().some(({key}) => key === progress.step) ? progress.step : steps()[0]?.key);
  });
  document.addEventListener('vx-ready', requestText);
  document.addEventListener('vx-refused', ({detail}) => {
    if (!detail.asked.paper) return;
    isPrinting = false;
    sheet?.close();
    write();
  });
  onWritten(checkTask);
  addEventListener('popstate', () => {
    const step = inAddress('step');
    if (step === current || (step && !steps().some(({key}) => key === step))) return;
    show(step);
    requestText();
  });
  document.addEventListener(
    'keydown',
    (event) => {
      const by = TURNS[event.key];
      const {target} = event;
      if (!by || !current || !(inLecture() || target === document.body || root.contains(/** @type {Node} */ (target))))
        return;
      event.preventDefault();
      event.stopPropagation();
      turn(by);
    },
    true,
  );

  function sync() {
    if (!props.value) return;
    const {handout} = props.value;
    if (handout && isPrinting) {
      isPrinting = false;
      sheet?.location.replace(new URL(handout.url, document.baseURI));
    }
    if (!handout) lastText = props.value.shown;
    const key = inAddress('step');
    const step = steps().find((candidate) => candidate.key === key);
    if (!current && step) {
      show(key);
      if (isBare) lead(addressOf(step.state, key, location.search), 'replaceState');
      else requestText(); // the capture may have been there before this part of the page
    } else if (current) write();
    checkTask();
  }

  return sync;
}
