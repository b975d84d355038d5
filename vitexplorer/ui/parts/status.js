const root = element.querySelector('.vx-status');
const line = root.querySelector('.line'), warning = root.querySelector('.warning'), filled = root.querySelector('.bar i');

function show() {
  const value = props.value || {};
  const share = value.share;
  line.textContent = value.text || '';
  warning.textContent = value.warning || '';
  warning.hidden = !value.warning;
  root.dataset.kind = value.kind || 'busy';
  root.toggleAttribute('data-unknown', share === null || share === undefined);
  filled.style.width = share === null || share === undefined ? '' : `${100 * share}%`;
  if (value.address && window.vxAddress) window.vxAddress(value.address);
}
watch('value', show);
show();
