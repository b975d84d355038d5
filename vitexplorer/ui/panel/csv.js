// Parser of CSV as Python writes it: commas, quotes where needed, a line for each row.

/**
 * @param {string} text
 * @returns {string[][]} rows of fields, the head first
 */
export function rowsOf(text) {
  const rows = [[]];
  for (const [, quoted, plain = '', end] of text
    .replace(/^\ufeff/, '')
    .matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows[rows.length - 1].push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '') break;
    if (end !== ',') rows.push([]);
  }
  return rows.filter((row) => row.length > 1 || row[0]);
}
