/** Types that the checker cannot infer: names on `window`, and results of selectors, which match the markup. */

interface Window {
  vxMount: (
    path: string,
    events: string[],
    gradio: {
      element: HTMLElement;
      props: {value: any};
      trigger: import('./kit/widget.js').Trigger;
      watch: (name: string, callback: () => void) => void;
    },
  ) => Promise<void>;
  vxAddress: typeof import('./kit/address.js').writeAddress;
  vxShown: (...inputs: unknown[]) => unknown[];
  vxVisitor: typeof import('./kit/sending.js').visitor;
  vxEnter: (room: string) => string;
  vxLook: () => void;
}

interface ParentNode {
  querySelector(selectors: string): any;
  querySelectorAll(selectors: string): NodeListOf<any>;
}

interface Element {
  readonly children: HTMLCollectionOf<any>;
}

interface Event {
  readonly detail: any;
}

interface EventTarget {
  closest?(selectors: string): any;
}
