// The room Folder: start or open a survey; its charts and images stand side by side, and the images follow the choice
// in the charts. The state is in the address.

import {enterRoom, goTo, onLink, viewChanges, viewInAddress, writeAddress} from '../../kit/address.js';
import {filled, setText, showSentence} from '../../kit/dom.js';
import {cameFrom} from '../../kit/notices.js';
import {offersPicture, pngFile} from '../../kit/saving.js';
import {onTheme} from '../../kit/theme.js';
import {beginning} from './begin.js';
import {chartView} from './chart_view.js';
import {chips} from './chips.js';
import {readWhere, withCondition, without, writtenWhere} from './conditions.js';
import {gallery} from './gallery.js';
import {groupStrip, namesOf} from './groups.js';
import {keeping} from './keep.js';
import {ask} from './server.js';

const ROOM = 'folder';
const BETWEEN_LOOKS = 1000; // milliseconds between two requests of the progress
const PARAMETERS = 'survey chart x y colour feature metric map row order sentence beside where'.split(' ');
const FIRST = Object.fromEntries(PARAMETERS.map((name) => [name, '']));

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, props}) {
  const part = (selector) => root.querySelector(`.opened ${selector}`);
  let opening = /** @type {any} */ (null);
  let facts = /** @type {any} */ (null);
  let state = /** @type {any} */ (null);
  let found = /** @type {{says: string, groups: import('./groups.js').Group[]} | null} */ (null);
  let look = {...FIRST};
  let where = /** @type {import('./conditions.js').Condition[]} */ ([]);
  let asking = false;
  let timer = 0;
  let counted = '';
  let said = '';
  let visit = 0; // `visit` counts openings of surveys: an answer to an earlier one is ignored

  const isSeen = () => root.checkVisibility() && !document.hidden;
  const isHere = () => viewInAddress().room === ROOM;
  const words = () => opening?.words ?? {};

  const begin = beginning(root.querySelector('.start'), {
    open: (name) => turnTo({...FIRST, survey: name}),
    model: () => props.value || {model: '', title: '', weights: '', fit: '', size: '', classifies: false},
  });
  const images = gallery(part('.gallery'), {open: (row) => chart.takes(row) || openImage(row), sort: change});
  const marks = chips(part('.chosen-where'), {remove: (one) => choose(without(where, one)), clear: () => choose([])});
  const chart = chartView(part('.chart'), part('.below'), {
    change,
    choose: (conditions, gone = []) => choose(conditions.reduce(withCondition, gone.reduce(without, where))),
  });

  const groups = groupStrip(part('.groups'), (condition, isChosen) =>
    choose(isChosen ? without(where, condition) : withCondition(where, condition)),
  );

  const keeps = keeping(
    part('.keep'),
    () => ({asked: {survey: look.survey, where: writtenWhere(where)}, title: facts.title, words: words()}),
    complain,
  );

  // ---- address

  function updateAddress() {
    if (!isHere()) return;
    const settings = Object.fromEntries(
      Object.entries({...look, where: writtenWhere(where)}).filter(([, value]) => value),
    );
    writeAddress(viewChanges('', settings));
  }

  /** Reads the address when the page opens or goes back to it. */
  function follow() {
    if (!isHere() || !opening) return;
    const {settings} = viewInAddress();
    const wanted = {...FIRST};
    for (const name of Object.keys(FIRST)) wanted[name] = settings[name] ?? '';
    if (JSON.stringify(wanted) !== JSON.stringify({...look, where: writtenWhere(where)})) turnTo(wanted);
  }

  // ---- open survey

  function turnTo(wanted) {
    const other = wanted.survey !== look.survey;
    where = readWhere(wanted.where);
    look = {...wanted};
    if (other) {
      visit += 1;
      facts = state = found = null;
      part('.groups').hidden = true;
      counted = said = '';
      keeps.forget();
      images.forget();
      chart.forget();
    }
    clearTimeout(timer);
    root.dataset.state = look.survey ? 'open' : 'start';
    updateAddress();
    if (!look.survey) reopen();
    else if (other || !facts) watchOn();
    else show();
  }

  /** Shows the start page with the present list of surveys. */
  async function reopen() {
    const now = await ask('opening');
    if (now?.words) opening = now;
    begin.show(opening);
  }

  function change(changes) {
    look = {...look, ...changes};
    updateAddress();
    show();
  }

  function choose(conditions) {
    where = conditions;
    updateAddress();
    show();
  }

  // ---- progress

  async function watchOn() {
    const mine = visit;
    const {survey} = look;
    const now = await ask('state', {survey});
    if (mine !== visit) return;
    clearTimeout(timer);
    if (!now || now.refused !== undefined) {
      complain(now?.refused || words().survey_lost);
      root.dataset.run = 'gone';
      return;
    }
    state = now;
    showState();
    const at = `${now.state} ${now.done ?? 0}`;
    if (now.done && at !== counted) {
      const came = await ask('facts', {survey});
      if (mine !== visit) return;
      if (came && came.refused === undefined) {
        counted = at;
        facts = came;
        show();
      } else complain(came?.refused ?? words().survey_lost);
    }
    if (now.state === 'finished' && !found) find();
    if (['starting', 'running'].includes(now.state))
      timer = setTimeout(() => {
        if (isSeen()) watchOn();
        else timer = 0;
      }, BETWEEN_LOOKS);
    else timer = 0;
  }

  /** Tells what a finished survey found. */
  async function find() {
    const mine = visit;
    const came = await ask('findings', {survey: look.survey});
    if (mine !== visit || !came?.says) return;
    found = came;
    showState();
    show();
    chart.resize(); // the groups take some of its height
  }

  function showState() {
    const {state: kind, says, done = 0, total = 0, resumes} = state;
    const text = words();
    const bar = part('progress');
    root.dataset.run = kind;
    setText(part('.title'), [state.title, state.model_title].filter(Boolean).join(' · '));
    part('.title').title = state.model ?? '';
    setText(part('.pace'), found?.says ?? says);
    setText(part('.stop'), text.survey_stop);
    setText(part('.resume'), text.survey_resume);
    setText(part('.back'), `← ${text.survey_back}`);
    part('.stop').hidden = !state.running && kind !== 'standing';
    part('.resume').hidden = state.running || kind === 'finished' || !resumes;
    bar.hidden = !state.running;
    bar.setAttribute('aria-label', says);
    if (total) bar.value = done / total;
    else bar.removeAttribute('value');
    chart.wait(done ? '' : text.chart_wait);
  }

  function complain(sentence) {
    showSentence(part('.alert'), sentence);
  }

  // ---- charts and images

  function show() {
    if (!facts) return;
    complain('');
    setText(part('.facts-line'), facts.says);
    const changed = look.beside ? ['lost', 'won'].map((key) => ({key, title: words()[`order_${key}`]})) : [];
    const orders = [...facts.orders, ...changed];
    const order = orders.some(({key}) => key === look.order) ? look.order : orders[0].key;
    const conditions = writtenWhere(where);
    const asked = {survey: look.survey, at: counted};
    if (found) {
      facts.values.group = namesOf(found.groups);
      groups(found.groups, where, state.picture_key, words());
    }
    marks.show(where, facts, words());
    keeps.show();
    images.show({
      asked: {
        ...asked,
        where: conditions,
        order,
        sentence: order === 'sentence' ? look.sentence : '',
        beside: look.beside,
      },
      orders,
      pictureKey: state.picture_key,
      words: words(),
      running: state.running,
    });
    images.mark(
      look.chart === 'maps' ? look.row : '',
      look.chart === 'maps' ? words().gallery_maps_hint : words().gallery_hint,
    );
    chart.show({look, facts, where, asked, words: words(), frame: opening.frame});
    count(asked, conditions);
  }

  async function count(asked, conditions) {
    const key = JSON.stringify([asked, conditions]);
    if (key === said) return;
    said = key;
    const now = await ask('count', {...asked, where: conditions});
    if (said !== key || !now) return;
    if (now.refused !== undefined) return complain(now.refused);
    marks.count(now.count, now.total, words());
    root.dataset.chosen = String(now.count);
  }

  async function openImage(row) {
    const mine = visit;
    const found = await ask('open', {survey: look.survey, row: String(row.row)});
    if (mine !== visit) return;
    if (!found?.image) return complain(found?.refused || words().gallery_lost);
    goTo({room: 'attention', ...facts.opens, image: found.image, block: '', head: '', query: ''});
    const label = filled(words().gallery_came, {title: state.title, label: row.caption});
    cameFrom(label, {board_back: words().gallery_back, board_close: opening.close}, () => enterRoom(ROOM));
    scrollTo({top: 0});
  }

  async function enter() {
    if (!props.value?.model || !isSeen() || !isHere()) return;
    if (opening) {
      begin.model();
      if (!viewInAddress().settings.survey) updateAddress();
      if (look.survey && !timer) watchOn();
      else if (!look.survey) reopen();
      return;
    }
    if (asking) return;
    asking = true;
    const now = await ask('opening');
    asking = false;
    if (!now?.words) return;
    opening = now;
    begin.show(opening);
    root.dataset.state = 'start';
    follow();
  }

  part('.back').addEventListener('click', () => turnTo({...FIRST}));
  part('.stop').addEventListener('click', async () => {
    const mine = visit;
    part('.stop').disabled = true;
    await ask('stop', {survey: look.survey});
    part('.stop').disabled = false;
    if (mine === visit) watchOn();
  });
  part('.resume').addEventListener('click', async () => {
    const mine = visit;
    const answer = await ask('resume', {survey: look.survey});
    if (mine !== visit) return;
    complain(answer?.refused ?? (answer ? '' : words().survey_lost));
    watchOn();
  });
  offersPicture(root, () => {
    const drawn = root.dataset.state === 'open' ? chart.picture() : null;
    return drawn && pngFile(drawn, 2);
  });
  onTheme(() => chart.redraw());
  onLink(follow);
  addEventListener('popstate', follow);
  document.addEventListener('visibilitychange', enter);
  let visible = false;
  new ResizeObserver(() => {
    const now = root.checkVisibility();
    if (now && !visible) enter();
    else if (now) chart.resize();
    visible = now;
  }).observe(root);
  return () => {
    if (opening) begin.model();
    else enter();
  };
}
