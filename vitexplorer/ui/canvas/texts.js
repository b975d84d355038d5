// Words from Python and numbers as people read them.

// A word with its {names} filled in; what Python did not send is the key itself, so that it is noticed.
function say(words, key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

// A share as a percentage with about three digits, or fewer.
function percent(share, digits = 3) {
  if (share < 0) return `\u2212${percent(-share, digits)}`;
  const value = 100 * share, places = value >= 99.95 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  if (!(value > 0)) return '0\u202f%';
  if (value < 0.001) return '<\u202f0.001\u202f%';
  return `${value.toFixed(Math.max(0, places + digits - 3))}\u202f%`;
}

// A patch of a grid of `cols` columns, a prefix token or the mean in words.
function tokenText(value, code, cols = value.cols) {
  if (code === MEAN) return say(value.words, 'mean_query');
  if (code < 0) return value.prefix_labels[-1 - code] ?? value.prefix[-1 - code] ?? '';
  return say(value.words, 'patch', {row: Math.floor(code / cols), col: code % cols});
}

// A number for a head, or the way heads are fused, in words.
function headText(value, head) {
  if (value.heads === 1) return say(value.words, 'fused_one');
  if (typeof head === 'number') return say(value.words, 'head', {head});
  return say(value.words, `fused_${head}`, {heads: value.heads});
}

// A query as the page's address writes it (cls, dist, mean, or row,col) to its code; null where there is no such token.
function queryCode(value, text) {
  if (Array.isArray(text)) text = text.join(',');
  if (typeof text === 'number' && text >= 0 && text < value.rows * value.cols) return Math.floor(text);
  if (text === 'mean') return MEAN;
  const prefix = value.prefix.indexOf(text), found = /^(\d+),(\d+)$/.exec(text ?? '');
  if (prefix >= 0) return -1 - prefix;
  if (!found || +found[1] >= value.rows || +found[2] >= value.cols) return null;
  return +found[1] * value.cols + +found[2];
}

// The same back; a key with the columns of its own grid.
function queryText(value, code, cols = value.cols) {
  if (code === MEAN) return 'mean';
  return code < 0 ? value.prefix[-1 - code] : `${Math.floor(code / cols)},${code % cols}`;
}

// Whether a token is none of this block's queries.
function isSilent(value, code) {
  return value.silent.includes(code === MEAN || code >= 0 ? 'patches' : value.prefix[-1 - code]);
}

// A head from its text or number; null where the block has no such head.
function headFrom(value, text) {
  if (Object.hasOwn(FUSIONS, text)) return text;
  return /^\d+$/.test(text) && Number(text) < value.heads ? Number(text) : null;
}
