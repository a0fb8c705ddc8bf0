// What other scripts of the pages have put into the window.
interface Window {
  mermaid: any;
  colloquySignIn?: { check(): void };
  vegaEmbed: (element: Element, spec: object, options: object) => Promise<{ finalize(): void; view: any }>;
}
