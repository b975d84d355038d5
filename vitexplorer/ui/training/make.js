// An element with its properties and children; text only ever enters as text.
const make = (tag, options = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), options);
  node.append(...children.filter((child) => child !== null && child !== ''));
  return node;
};
const button = (text, options, press) => {
  const node = make('button', {type: 'button', textContent: text, ...options});
  node.addEventListener('click', press);
  return node;
};
const filled = (template, values) => template.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

