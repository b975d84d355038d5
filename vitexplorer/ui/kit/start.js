// Mounts a component's module, once for each time that gradio puts the component on the page. Written into the page
// itself: it must be there before gradio is, and say so where a module does not arrive. The component's markup, which
// stands in the page as a template, is shown at once, so that nothing moves when the module is there.
{
  const {folder, failed} = document.currentScript.dataset;
  const load = (path) => import(new URL(folder + path, document.baseURI).href);

  window.vxMount = async (path, events, {element, props, trigger, watch}) => {
    const markup = document.querySelector(`template[data-module="${path}"]`);
    element.replaceChildren(markup.content.cloneNode(true));
    try {
      const [{latestOnly}, {mount}] = await Promise.all([load('kit/widget.js'), load(path)]);
      if (element.isConnected) mount({element, props, trigger: latestOnly(trigger, events), watch});
    } catch (error) {
      console.error(error);
      const sentence = document.createElement('p');
      sentence.className = 'vx-refused';
      sentence.setAttribute('role', 'alert');
      sentence.textContent = failed;
      element.prepend(sentence);
    }
  };
}
