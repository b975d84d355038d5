const root = element.querySelector('.vx-strip'), row = root.querySelector('.row'), label = root.querySelector('p');

function show() {
  const value = props.value || {};
  const items = value.items || [];
  label.textContent = value.label || '';
  row.setAttribute('aria-label', value.label || '');
  if (row.dataset.ids !== items.map((item) => item.title).join()) {
    row.dataset.ids = items.map((item) => item.title).join();
    row.replaceChildren(...items.map((item) => {
      const button = document.createElement('button'), image = document.createElement('img');
      button.type = 'button';
      button.dataset.id = item.id;
      button.title = item.title;
      image.src = item.image.url;
      image.alt = item.title;
      button.append(image);
      button.addEventListener('click', () => trigger('pick', {id: item.id}));
      return button;
    }));
  }
  for (const button of row.children) button.setAttribute('aria-pressed', String(button.dataset.id === value.chosen));
}
watch('value', show);
show();
