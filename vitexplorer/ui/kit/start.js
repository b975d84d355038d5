// Mounts a component's module whenever gradio puts the component on the page. This script is part of the page itself,
// since it must run before gradio and report modules that fail to load. The component's markup, a template in the page,
// is shown at once, so that nothing moves when the module arrives. It is inert until module and data are there.
//
// It also reloads the page when the server has forgotten its session (410); the address restores the picture. Gradio
// hides the reasons of other refused requests, so they are passed on with `vx-refused`, and the status line shows them.
{
  const plainFetch = window.fetch;
  const reloadAfter = 5000; // milliseconds: a page that has just been loaded is not reloaded
  const eventPath = /\/gradio_api\/(run\/predict|queue\/join)\b/;
  const {modules, failed, unexpected} = document.currentScript.dataset;

  window.fetch = async (...request) => {
    const answer = await plainFetch(...request);
    if (answer.status === 410 && performance.now() > reloadAfter) location.reload();
    else if (!answer.ok && eventPath.test(answer.url)) reportRefusal(answer.clone(), request[1]?.body);
    return answer;
  };

  const reportRefusal = async (answer, body) => {
    const {error} = await answer.json().catch(() => ({}));
    const {event_data: asked} = typeof body === 'string' ? JSON.parse(body) : {};
    const why = typeof error === 'string' && error ? error : unexpected;
    document.dispatchEvent(new CustomEvent('vx-refused', {detail: {why, asked: asked ?? {}}}));
  };

  window.vxMount = async (path, events, {element, props, trigger, watch}) => {
    const markup = document.querySelector(`template[data-module="${path}"]`);
    element.replaceChildren(markup.content.cloneNode(true));
    element.inert = true;
    try {
      const {fetched, module} = await import(new URL(modules, document.baseURI).href);
      await fetched(path);
      const {latestOnly} = module('kit/widget.js');
      const {mount} = module(path);
      if (!element.isConnected) return;
      const root = element.firstElementChild;
      const part = (selector) => root.querySelector(selector);
      const show = mount({root, part, props, trigger: latestOnly(trigger, events)});
      const update = () => {
        element.inert &&= !props.value;
        show();
      };
      watch('value', update);
      update();
    } catch (error) {
      console.error(error);
      const sentence = document.createElement('p');
      sentence.className = 'vx-refused';
      sentence.setAttribute('role', 'alert');
      sentence.textContent = failed;
      element.prepend(sentence);
      element.inert = false;
    }
  };
}
