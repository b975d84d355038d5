// Writes parameters into the address bar without reloading; an empty value takes its parameter away.
window.vxAddress = (changes) => {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '' || value === null || value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  if (url.href !== location.href) history.replaceState(history.state, '', url);
};

// What a visitor picks on the attention canvas stands in the address bar, so that a link opens the very map.
document.addEventListener('vx-select', (event) => {
  if (!event.target.closest('#vx-attention-canvas')) return;
  const {block, head, query} = event.detail;
  window.vxAddress({block, head, query});
});

// A room counts as entered when a person opens it; the tab that gradio selects while the page loads does not.
let personChose = false;
for (const kind of ['pointerdown', 'keydown']) {
  document.addEventListener(kind, (event) => { personChose ||= Boolean(event.target.closest?.('[role="tab"]')); }, true);
}
window.vxEnter = (room) => {
  if (personChose) window.vxAddress({room});
  return personChose ? room : '';
};
