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
  window.vxAddress({__theme: now ? 'dark' : 'light'});
});
lecture.addEventListener('click', () => {
  const on = !document.body.classList.contains('vx-lecture');
  lectureMode(on);
  window.vxAddress({lecture: on ? '1' : ''});
});
lectureMode(new URLSearchParams(location.search).get('lecture') === '1');
watch('value', show);
show();
