// Mounts a component's module, once for each time that gradio puts the component on the page. Written into the page
// itself: it must be there before gradio is, and say so where a module does not arrive. The component's markup, which
// stands in the page as a template, is shown at once, so that nothing moves when the module is there. Until its first data
// are there, it has no words: nothing of it can be pressed or reached with the keyboard.
//
// And loads the page again where the server no longer knows it (410): its address says what it showed. Why any other
// question is refused gradio keeps to itself: the page is told with what was asked, and the status line says it.
{
  const plain = window.fetch, opening = 5000;  // milliseconds: a page that has just been loaded is not loaded again
  const question = /\/gradio_api\/(run\/predict|queue\/join)\b/;
  const {modules, failed, unexpected} = document.currentScript.dataset;

  window.fetch = async (...request) => {
    const answer = await plain(...request);
    if (answer.status === 410 && performance.now() > opening) location.reload();
    else if (!answer.ok && question.test(answer.url)) tell(answer.clone(), request[1]?.body);
    return answer;
  };

  const tell = async (answer, question) => {
    const {error} = await answer.json().catch(() => ({}));
    const {event_data: asked} = typeof question === 'string' ? JSON.parse(question) : {};
    const why = typeof error === 'string' && error ? error : unexpected;
    document.dispatchEvent(new CustomEvent('vx-refused', {detail: {why, asked: asked ?? {}}}));
  };

  window.vxMount = async (path, events, {element, props, trigger, watch}) => {
    const markup = document.querySelector(`template[data-module="${path}"]`);
    element.replaceChildren(markup.content.cloneNode(true));
    const wake = () => { element.inert &&= !props.value; };
    element.inert = true;
    watch('value', wake);
    wake();
    try {
      const {module} = await import(new URL(modules, document.baseURI).href);
      const {latestOnly} = module('kit/widget.js'), {mount} = module(path);
      if (element.isConnected) mount({element, props, trigger: latestOnly(trigger, events), watch});
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
