"""Where things stand on a page while an answer streams, and when the page stands still."""

# An IntersectionObserver measures what is painted, after all scripts of a frame.
TOPS = """(node, lines) => new Promise((done) => {
  const drawn = () => document.querySelectorAll('[aria-busy=true] .colloquy-text > p').length;
  const until = drawn() + lines;
  const tops = [];
  const look = () => {
    const observer = new IntersectionObserver(([{ boundingClientRect }]) => {
      observer.disconnect();
      tops.push(Math.round(boundingClientRect.top));
      if (drawn() < until) requestAnimationFrame(look);
      else done(tops);
    });
    observer.observe(node);
  };
  look();
})"""
STANDS = """() => new Promise((done) => {
  const view = document.querySelector("main");
  let top, still = 0;
  const look = () => {
    still = view.scrollTop === top ? still + 1 : 0;
    top = view.scrollTop;
    if (still > 10) done();
    else requestAnimationFrame(look);
  };
  look();
})"""
# By how many pixels a paragraph is painted in other places within some frames.
UNMOVED = """(text) => new Promise((done) => {
  const node = [...document.querySelectorAll("main p")].find((p) => p.innerText === text);
  const tops = [];
  const look = () => new IntersectionObserver(([{ boundingClientRect }], observer) => {
    observer.disconnect();
    tops.push(boundingClientRect.top);
    if (tops.length < 20) requestAnimationFrame(look);
    else done(Math.max(...tops) - Math.min(...tops));
  }).observe(node);
  look();
})"""
# Whether a text is in view in the first frame in which it is painted.
FIRST_SEEN = """(text) => {
  const look = () => {
    const node = [...document.querySelectorAll("main p")].find((p) => p.innerText === text);
    if (!node) return requestAnimationFrame(look);
    new IntersectionObserver(([{ isIntersecting }], observer) => {
      observer.disconnect();
      window.firstSeen = isIntersecting;
    }).observe(node);
  };
  requestAnimationFrame(look);
}"""
