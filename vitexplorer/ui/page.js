// Writes parameters into the address bar without reloading; an empty value takes its parameter away.
window.vxAddress = (changes) => {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '' || value === null || value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  if (url.href !== location.href) history.replaceState(history.state, '', url);
};
