// The numbers of the shown map as a table for a spreadsheet.

/**
 * A line for each key, after lines with # that say what they are.
 *
 * @param {any} value
 * @param {import('./payload.js').Payload} payload
 * @param {import('./picture.js').Scene} scene
 * @param {import('./payload.js').Head} shown
 * @param {string[]} lines what the numbers are; empty ones are left out
 * @returns {string} comma-separated values
 */
export function tableOf(value, payload, scene, shown, lines) {
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`, digits = (share) => Number(share.toPrecision(6));
  const out = lines.filter(Boolean).map((line) => `# ${line}`);
  out.push('token,row,col,share,shown');
  value.prefix.forEach((name, i) => {
    if (payload.prefixKeys[i]) out.push(`${quoted(name)},,,${digits(shown.prefix[i])},`);
  });
  shown.map.forEach((share, i) => {
    const row = Math.floor(i / scene.grid.cols), col = i % scene.grid.cols;
    const attended = !scene.window || scene.window.inside[i], kept = attended && (!scene.mask || scene.mask[i]);
    out.push(`"patch",${row},${col},${attended ? digits(share) : ''},${kept ? 1 : 0}`);
  });
  if (shown.padding > 0) out.push(`"padding",,,${digits(shown.padding)},`);
  return `${out.join('\n')}\n`;
}
