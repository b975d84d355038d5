// The rooms' pictures, drawn on a field of 24 by 24.

/** @type {Record<string, string>} */
export const ICONS = {
  learn: 'M12 5c-2.500-1.500-5.500-2-9-2v15c3.500 0 6.500.500 9 2c2.500-1.500 5.500-2 9-2V3c-3.500 0-6.500.500-9 2z M12 5v15',
  patches: 'M4 4h16v16H4z M4 9.3h16 M4 14.7h16 M9.3 4v16 M14.7 4v16',
  attention: 'M2 12c3-5 6.5-7 10-7s7 2 10 7c-3 5-6.5 7-10 7s-7-2-10-7z M15 12a3 3 0 1 1-6 0a3 3 0 0 1 6 0z',
  flow: 'M3 6h3c6 0 6 12 12 12h3 M3 18h3c6 0 6-12 12-12h3',
  tokens: 'M4 4h6v6H4z M14 4h6v6h-6z M4 14h6v6H4z M14 14h6v6h-6z',
  outputs: 'M5 20v-9 M12 20V4 M19 20v-6',
  positions: 'M12 2v5 M12 17v5 M2 12h5 M17 12h5 M17 12a5 5 0 1 1-10 0a5 5 0 0 1 10 0z',
  size: 'M3 20h18 M5 20v-5h4v5 M10 20V9h4v11 M15 20V4h4v16',
  what_if: 'M8.5 8.5a3.5 3.5 0 1 1 5 3.200c-1 .6-1.5 1.200-1.5 2.800 M12 19v.2',
  compare: 'M3 4h7.500v16H3z M13.500 4H21v16h-7.500z M5.500 9h2.500 M16 9h2.500 M5.500 13h2.500',
  finetune: 'M3 7h9 M16 7h5 M14 4.5v5 M3 17h4 M11 17h10 M9 14.5v5 M3 12h18',
  folder: 'M3 6h6l2 2.500h10V20H3z M7 16.500v-3 M11 16.500v-5 M15 16.500v-2',
};
