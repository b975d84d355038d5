// Control for the target of an explanation: a class, one class rather than another, a patch or a region of the picture,
// another image, a text. The value has the format of `AnyTargetControl`; other targets of a link are list entries.

import {filled, make} from '../kit/dom.js';
import {readPatches, writePatches} from '../kit/grid.js';
import {sendPicture} from '../kit/sending.js';
import {paintingBoard, pickingBoard} from './patch_board.js';

/** Format of each kind of target. */
const FORMS = {
  class: /^-?\d+$/,
  rather: /^(\d+) vs (\d+)$/,
  alike: /^patch (\d+),(\d+)$/,
  region: /^region (.+)$/,
  like: /^like[: ](\S+)(?: patch (\d+,\d+))?$/,
  text: /^text: *(.+)$/,
};
const KINDS = Object.keys(FORMS);

/** @type {import('./form.js').Draw} */
export function draw({name, label, board, words, more, options: first}, {settled, pending, image}) {
  const classes = first.filter(({value}) => FORMS.class.test(value)).length;
  const least = {class: 1, rather: 2};
  const kinds = KINDS.filter((kind) => words[kind] && classes >= (least[kind] ?? 0));
  const kind = make('select', {name, onchange: begin});
  const single = make('select', {ariaLabel: words.class, onchange: ask});
  const than = make('span.between', words.rather_than);
  const other = make('select', {ariaLabel: words.rather_than, onchange: ask});
  const images = make(
    'select',
    {ariaLabel: words.image, onchange: chooseImage},
    ...more.images.map(({id, title}) => new Option(title, id)),
  );
  const sentence = make('input', {
    type: 'text',
    maxLength: 190,
    ariaLabel: words.text ?? '',
    placeholder: words.write ?? '',
    onchange: ask,
  });
  const file = make('input.unseen', {type: 'file', accept: 'image/*', onchange: send});
  const sending = make('label.send', file, make('span', words.choose_image));
  const picking = pickingBoard({board, image, label: words.pick, follows: false, picked: pick});
  const holder = make('div', {hidden: true});
  const whole = make('button', {onclick: () => pickOtherPatch('')}, words.whole);
  const remark = make('p.remark', {role: 'status'});
  const {sheet, ...painting} = paintingBoard({
    board,
    image,
    label: words.help,
    most: Infinity,
    begun() {},
    full() {},
    painted: count,
    settled(marked) {
      region = writePatches(marked, board);
      ask();
    },
    walked([row, col], isIn) {
      remark.textContent = `${filled(words.patch, {row, col})}: ${isIn ? words.hidden : words.visible}`;
    },
  });
  sheet.classList.add('marks');
  const parts = {
    class: classes > 1 ? [single] : [],
    rather: [single, than, other],
    alike: [picking.box],
    region: [sheet, remark],
    like: [images, sending, holder, remark],
    text: [sentence],
  };
  const element = make(
    'div.vx-target.vx-large',
    make('label', make('span', label), kind),
    single,
    than,
    other,
    picking.box,
    sheet,
    images,
    sending,
    holder,
    sentence,
    remark,
  );
  let patch = '';
  let region = '';
  let otherPatch = '';
  let written = '';
  let listed = '';
  // The other image with its patches; none before the first answer about it.
  /** @type {ReturnType<typeof pickingBoard> | null} */
  let otherBoard = null;
  let shownOther = ''; // picture and board of the other image, as JSON

  const kindOf = (value) => KINDS.find((name) => FORMS[name].test(value)) ?? '';

  function count(marked) {
    remark.textContent = filled(words.count, {hidden: marked.size, all: board.rows * board.cols});
  }

  /** Value for Python; empty where a choice is missing. */
  function value() {
    return (
      {
        class: () => single.value,
        rather: () => `${single.value} vs ${other.value}`,
        alike: () => patch && `patch ${patch}`,
        region: () => region && `region ${region}`,
        like: () => `like ${images.value}${otherPatch && ` patch ${otherPatch}`}`,
        text: () => sentence.value.trim() && `text: ${sentence.value.trim()}`,
      }[kind.value]?.() ?? kind.value
    );
  }

  function show() {
    const now = /** @type {HTMLElement[]} */ (parts[kind.value] ?? []);
    for (const part of new Set(Object.values(parts).flat())) part.hidden = !now.includes(part);
    remark.textContent = '';
    if (kind.value === 'region') count(readPatches(region, board));
    if (kind.value === 'like') showOtherPatch();
  }

  /** Shows the chosen patch of the other image. */
  function showOtherPatch() {
    const at = otherPatch ? otherPatch.split(',').map(Number) : null;
    otherBoard?.show(/** @type {[number, number] | null} */ (at));
    whole.hidden = !at;
    remark.textContent = at ? filled(words.patch, {row: at[0], col: at[1]}) : '';
  }

  function pickOtherPatch(at) {
    otherPatch = at;
    showOtherPatch();
    ask();
  }

  /** Chooses another image; its patches appear once Python has run it. */
  function chooseImage() {
    otherPatch = '';
    showOther({});
    ask();
  }

  /** @param {{image?: string, board?: import('../kit/grid.js').Board}} other */
  function showOther(other) {
    const now = JSON.stringify(other);
    if (now === shownOther) return;
    shownOther = now;
    otherBoard = other.image
      ? pickingBoard({
          board: other.board,
          image: other.image,
          label: words.pick_other,
          follows: false,
          ruled: true,
          picked: (at) => pickOtherPatch(at.join()),
        })
      : null;
    holder.replaceChildren(...(otherBoard ? [otherBoard.box, whole] : []));
  }

  /** Shows the choices of another kind of target; the target is sent once it is complete. */
  function begin() {
    if (single.value === other.value) other.selectedIndex = single.selectedIndex === 0 ? 1 : 0;
    show();
    ask();
  }

  function ask() {
    if (kind.value === 'rather' && single.value === other.value) return;
    const now = value();
    if (!now || now === written) return;
    written = now;
    settled();
  }

  function pick(at) {
    patch = at.join();
    picking.show(at);
    ask();
  }

  async function send() {
    const [picture] = file.files;
    if (!picture) return;
    const answer = await sendPicture(picture);
    if (!('image' in answer)) {
      remark.textContent = answer.refused || words.image_lost;
      return;
    }
    showOther({});
    take(`like ${answer.image}`);
    ask();
  }

  /** Sets all parts to a value. */
  function take(now) {
    const of = kindOf(now);
    const [, first = '', second = ''] = (of && now.match(FORMS[of])) || [];
    if (of === 'class') single.value = now;
    if (of === 'rather') [single.value, other.value] = [first, second];
    if (of === 'alike') patch = `${first},${second}`;
    if (of === 'region') region = first;
    if (of === 'text') sentence.value = first;
    if (of === 'like') {
      if (![...images.options].some((option) => option.value === first))
        images.append(new Option(words.own_image, first));
      images.value = first;
      otherPatch = second;
    }
    kind.value = of || now;
    picking.show(patch ? /** @type {[number, number]} */ (patch.split(',').map(Number)) : null);
    painting.show(readPatches(region, board));
    show();
  }

  function list(options, now) {
    const classes = options.filter((option) => FORMS.class.test(option.value));
    const pair = now.match(FORMS.rather)?.slice(1) ?? [];
    for (const select of [single, other]) {
      const chosen = select.value;
      select.replaceChildren(...classes.map((option) => new Option(option.label, option.value)));
      for (const value of pair)
        if (!classes.some((option) => option.value === value)) select.append(new Option(value, value));
      if ([...select.options].some((option) => option.value === chosen)) select.value = chosen;
    }
    const beyond = kindOf(now) ? [] : options.filter((option) => option.value === now);
    kind.replaceChildren(
      ...kinds.map((key) => new Option(words[key], key)),
      ...beyond.map((option) => new Option(option.label, option.value)),
    );
    patch ||=
      options
        .map((option) => option.value.match(FORMS.alike))
        .find(Boolean)
        ?.slice(1)
        .join() ?? '';
  }

  return {
    element,
    value,
    answer({options, value: now, state: other}) {
      if (painting.painting() || (written && written !== now && pending())) return;
      const state = JSON.stringify([options, now, other]);
      if (state === listed && written === now) return;
      list(options, now);
      [listed, written] = [state, now];
      if (kindOf(now) === 'like') showOther(other);
      take(now);
    },
  };
}
