// Switches at the right end of the top bar; they act in the browser alone.

import {inAddress, writeAddress} from '../kit/address.js';
import {make, showSentence, visible} from '../kit/dom.js';
import {onTheme, theme} from '../kit/theme.js';
import {chip} from './chips/chip.js';
import {frameCode} from './layouts.js';
import {inLecture, lectureMode, listenInLectures, showKeys} from './lecture.js';

const NOTE_TIME = 1600; // milliseconds that a button shows the result of its action

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({root, part, props}) {
  const [language, dark, lecture, link] = root.querySelectorAll('button');
  const code = part('textarea');
  const copy = part('.copy');
  const {sheet, onOpen} = chip(root);
  let isNew = true; // until the words have arrived

  // First element in the tab order: it skips the top bar and the rail and leads to the open room's question.
  const skip = make('a.vx-skip', {
    href: '#vx-rooms',
    onclick(event) {
      event.preventDefault();
      const question = visible('#vx-rooms :is(.question, h2)');
      if (!question) return;
      question.tabIndex = -1;
      question.focus();
    },
  });
  document.querySelector('.vx-skip')?.remove();
  document.body.prepend(skip);

  function show() {
    const {words = {}, other_code = ''} = props.value || {};
    language.textContent = words.other_language || '';
    language.lang = other_code;
    dark.textContent = words[theme() === 'dark' ? 'light_mode' : 'dark_mode'] || '';
    lecture.textContent = words.lecture_mode || '';
    lecture.title = words.lecture_keys || '';
    lecture.setAttribute('aria-pressed', String(inLecture()));
    link.textContent = words.link || '';
    skip.textContent = words.skip || '';
    part('h3').textContent = sheet.ariaLabel = words.embed || '';
    part('.help').textContent = words.embed_help || '';
    copy.textContent = words.embed_copy || '';
    part('.note').textContent = words.embed_allowed || '';
    code.ariaLabel = words.embed || '';
    if (isNew && inLecture() && words.lecture_keys) showKeys(words.lecture_keys);
    isNew &&= !words.lecture_keys;
  }

  /** Copies a text to the clipboard and shows on the button if that worked. */
  async function copyText(button, text) {
    const {words} = props.value;
    const done = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    button.textContent = done ? words.link_copied : words.link_not_copied;
    setTimeout(show, NOTE_TIME);
  }

  language.addEventListener('click', () => {
    const url = new URL(location.href);
    url.searchParams.set('lang', props.value.other_code);
    location.assign(url);
  });
  dark.addEventListener('click', () => {
    const isDark = document.body.classList.toggle('dark');
    writeAddress({__theme: isDark ? 'dark' : 'light'});
  });
  function toggleLecture() {
    lectureMode(!inLecture());
    writeAddress({lecture: inLecture() ? '1' : ''});
    if (inLecture()) showKeys(props.value.words.lecture_keys);
    show();
  }
  lecture.addEventListener('click', toggleLecture);
  link.addEventListener('click', () => copyText(link, location.href));
  copy.addEventListener('click', () => copyText(copy, code.value));
  onOpen(() => {
    showSentence(part('.own'), inAddress('image').startsWith('upload-') ? props.value.words.link_own : '');
    const heading = visible('#vx-rooms :is(.question, h2)');
    code.value = frameCode(location.href, [heading?.textContent, document.title].filter(Boolean).join(' · '));
  });
  listenInLectures(toggleLecture);
  onTheme(show);
  return show;
}
