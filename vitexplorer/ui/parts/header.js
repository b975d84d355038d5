// The head of the page: its name and its switches, which act in the browser alone.

import {writeAddress} from '../kit/address.js';

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, watch}) {
  const root = element.querySelector('.vx-header');
  const [language, dark, lecture] = root.querySelectorAll('button');

  function show() {
    const value = props.value || {};
    root.querySelector('h1').textContent = value.title || '';
    root.querySelector('p').textContent = value.subtitle || '';
    language.textContent = value.other_language || '';
    language.lang = value.other_code || '';
    dark.textContent = value.dark || '';
    lecture.textContent = value.lecture || '';
    if (value.title) document.title = value.title;
  }

  /** @param {boolean} on */
  function lectureMode(on) {
    document.body.classList.toggle('vx-lecture', on);
    lecture.setAttribute('aria-pressed', String(on));
  }

  language.addEventListener('click', () => {
    const url = new URL(location.href);
    url.searchParams.set('lang', props.value.other_code);
    location.assign(url);
  });
  dark.addEventListener('click', () => {
    const now = document.body.classList.toggle('dark');
    writeAddress({__theme: now ? 'dark' : 'light'});
  });
  lecture.addEventListener('click', () => {
    const on = !document.body.classList.contains('vx-lecture');
    lectureMode(on);
    writeAddress({lecture: on ? '1' : ''});
  });
  lectureMode(new URLSearchParams(location.search).get('lecture') === '1');
  watch('value', show);
  show();
}
