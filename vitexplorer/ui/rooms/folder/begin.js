// Start page of surveys: drawn scenes, a person's own images, the questions, and the existing surveys.

import {deleteButton, filled, make, onFiles, refill, setText, showSentence} from '../../kit/dom.js';
import {moment, percent, spaced} from '../../kit/formats.js';
import {sendFile} from '../../kit/sending.js';
import {ask} from './server.js';
import {chosenFolder, droppedFolder, entryOf, zipped} from './zipping.js';

/**
 * @param {HTMLElement} root
 * @param {object} does
 * @param {(name: string) => void} does.open opens a survey
 * @param {() => Record<'model' | 'title' | 'weights' | 'fit' | 'size', string> & {classifies: boolean}} does.model
 *   returns the current model
 */
export function beginning(root, {open, model}) {
  const part = (selector) => root.querySelector(selector);
  let page = /** @type {any} */ (null);
  let source = /** @type {Record<string, string> | null} */ (null);
  let busy = false;

  root.inert = true; // until its texts have arrived

  const here = () => ({...model(), classifies: String(model().classifies)});
  const asked = () => [...part('.ask').querySelectorAll('input:checked')].map((box) => box.value);

  function working(sentence) {
    busy = Boolean(sentence);
    setText(part('.doing'), sentence);
    for (const button of root.querySelectorAll('.try, .go, .look'))
      button.disabled = busy || (button.matches('.go') && !source);
  }

  const complain = (sentence) => showSentence(part('.alert'), sentence);

  /** Returns the answer, or null after showing why there is none. */
  function heard(answer) {
    working('');
    const refused = answer ? (answer.refused ?? answer.error) : page.words.survey_lost;
    complain(refused ?? '');
    return refused === undefined ? answer : null;
  }

  async function start(images) {
    const ticked = asked();
    if (!ticked.length) return complain(page.words.survey_none_asked);
    complain('');
    working(images.data === 'scenes' ? page.words.survey_drawing : page.words.survey_looking);
    const came = heard(await ask('start', {...here(), ...images, ask: ticked.join(',')}));
    if (came) open(came.survey);
  }

  async function take(file) {
    if (!file || busy) return;
    complain('');
    const said = (share) =>
      working(share < 1 ? filled(page.words.survey_sending, {share: percent(share)}) : page.words.survey_unpacking);
    said(0);
    const came = heard(await sendFile('survey/zip', {name: file.name}, file, said));
    if (came) choose({data: came.data}, came.says);
  }

  /** @param {Promise<{name: string, members: import('./zipping.js').Member[]}>} folder */
  async function takeFolder(folder) {
    if (busy) return;
    complain('');
    const {words} = page;
    const tell = (share) => working(filled(words.survey_packing, {share: percent(share)}));
    tell(0);
    try {
      const {name, members} = await folder;
      const zip = await zipped(members, tell);
      working('');
      if (zip) take(new File([zip], `${name}.zip`));
      else complain(words.survey_large);
    } catch {
      working('');
      complain(words.survey_unread); // a file has gone, or may not be read
    }
  }

  async function look() {
    working(page.words.survey_looking);
    const came = heard(await ask('look', {path: part('.path').value}));
    if (came?.survey) open(came.survey);
    else if (came) choose({path: came.path}, came.says);
  }

  function choose(images, says) {
    source = images;
    setText(part('.chosen'), says);
    part('.go').disabled = false;
    part('.go').focus();
  }

  async function remove(name) {
    const came = heard(await ask('delete', {survey: name}));
    if (came) showEarlier(came.surveys);
  }

  function showEarlier(surveys) {
    const {words} = page;
    const line = (one) => ({count: spaced(one.done), total: spaced(one.total), model: one.model_title});
    const row = (one) =>
      make(
        'li',
        {dataset: {survey: one.name}},
        make('b', one.title),
        make('span', {title: one.model}, filled(words.survey_line, line(one))),
        make('span.when', moment(one.begun)),
        make('button.open', {onclick: () => open(one.name)}, words.survey_open),
        deleteButton(words.survey_delete, words.survey_sure, one.running, () => remove(one.name)),
      );
    refill(part('.earlier ul'), ...(surveys.length ? surveys.map(row) : [make('li', words.survey_earlier_none)]));
    setText(part('.earlier h3'), words.survey_earlier);
  }

  const box = ({key, title, question, cost}, checked) =>
    make(
      'label',
      make('input', {type: 'checkbox', value: key, checked}),
      make('span', make('b', title), ...[question, cost].filter(Boolean).map((text) => make('small', text))),
    );

  function showModel() {
    const {words, classifier, scenes} = page;
    const shown = model();
    setText(part('.model'), filled(words.survey_model, {model: shown.title}));
    setText(part('.try'), filled(words.survey_begin_scenes, {count: spaced(scenes)}));
    setText(part('.try-model'), shown.classifies ? '' : filled(words.survey_begin_scenes_of, {model: classifier}));
  }

  part('.try').addEventListener('click', () => start({data: 'scenes'}));
  part('.go').addEventListener('click', () => {
    if (source) start(source);
  });
  onFiles(part('.file'), ([file]) => take(file));
  onFiles(part('.folder'), (files) => takeFolder(Promise.resolve(chosenFolder(files))));
  part('.look').addEventListener('click', look);
  part('.path').addEventListener('keydown', (event) => {
    if (event.key === 'Enter') look();
  });
  root.addEventListener('dragover', (event) => event.preventDefault());
  root.addEventListener('drop', (event) => {
    event.preventDefault();
    event.stopPropagation();
    const folder = entryOf(event.dataTransfer);
    if (folder) takeFolder(droppedFolder(folder));
    else take(event.dataTransfer.files[0]);
  });

  return {
    /** @param {any} opening the server's texts, questions and surveys */
    show(opening) {
      page = opening;
      root.inert = false;
      const {words, questions, views, closed, local} = page;
      const texts = {
        h2: words.survey_question,
        '.reading': words.survey_reading,
        '.begin-scenes h3': words.survey_try,
        '.own h3': words.survey_own,
        '.ask legend': words.survey_ask,
        '.folder-name': words.survey_folder,
        '.zip-name': words.survey_zip,
        '.hint': words.survey_zip_hint,
        '.look': words.survey_read,
        '.go': words.survey_start,
        '.ask-views summary': words.ask_views,
        '.ask-views .hint': words.ask_views_hint,
      };
      for (const [selector, text] of Object.entries(texts)) setText(part(selector), text);
      showSentence(part('.closed'), closed);
      part('.ways').hidden = Boolean(closed);
      part('.by-path').hidden = !local;
      part('.path').placeholder = words.survey_path;
      part('.path').setAttribute('aria-label', words.survey_path);
      if (!part('.questions').childElementCount) {
        part('.questions').append(...questions.map((one) => box(one, true)));
        part('.views').append(...views.map((one) => box(one, false)));
      }
      working('');
      showEarlier(page.surveys);
      showModel();
    },
    /** Call after a change of the current model. */
    model() {
      if (page) showModel();
    },
  };
}
