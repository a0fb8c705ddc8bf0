"""Where things stand on a page while an answer streams, and when the page stands still."""

from tests.e2e.conversation import STREAMED

# An IntersectionObserver measures what is painted, after all scripts of a frame.
TOPS = """(node, lines) => new Promise((done) => {
  const drawn = () => document.querySelectorAll("STREAMED > p").length;
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
})""".replace("STREAMED", STREAMED)
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
# Where a node is painted until another text appears, and some frames longer.
UNTIL = """(node, text) => new Promise((done) => {
  const tops = [];
  let after = 0;
  const look = () => new IntersectionObserver(([{ boundingClientRect }], observer) => {
    observer.disconnect();
    tops.push(Math.round(boundingClientRect.top));
    if (document.querySelector("main").innerText.includes(text)) after += 1;
    if (after < 20) requestAnimationFrame(look);
    else done(tops);
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
