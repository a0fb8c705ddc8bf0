// Asks Python for what a person chose. Each act has a number that rises; with the list's data Python
// says up to which number all is done. Until then an act counts as done on the screen, and is sent
// along with every later one, and after a while alone: Python does it once, however often it comes.
const FIRST_WAIT_MS = 5_000;

const acts = {
  last: Date.now(), // higher than the number of any act before a reload
  waiting: [],
  wait: FIRST_WAIT_MS,
  timer: null,
  trigger: () => {},
};

function ask(what, more = {}) {
  acts.waiting.push({ n: ++acts.last, do: what, ...more });
  acts.wait = FIRST_WAIT_MS;
  sendActs();
  draw();
}

// The live part of a chat asks for nothing while something is on its way.
function tellActing() {
  if (acts.waiting.length) document.body.dataset.colloquyActing = "yes";
  else delete document.body.dataset.colloquyActing;
}

function sendActs() {
  clearTimeout(acts.timer);
  tellActing();
  if (!acts.waiting.length) return;
  acts.trigger("acts", acts.waiting);
  acts.timer = setTimeout(sendActs, acts.wait);
  acts.wait *= 2;
}

function settleActs(done) {
  acts.waiting = acts.waiting.filter((act) => act.n > done);
  if (!acts.waiting.length) clearTimeout(acts.timer);
  tellActing();
}

// The last of these acts that was not done yet, of one session if its id is given.
function asked(names, id = null) {
  return acts.waiting.findLast(
    (act) => names.includes(act.do) && (id === null || act.ids?.includes(id)),
  );
}

function openId() {
  const leaving = asked(["open", "new"]);
  return leaving ? (leaving.ids?.[0] ?? null) : list.data.open;
}

function titleOf(row) {
  return asked(["rename"], row.id)?.title ?? row.title;
}

function isPinned(row) {
  const act = asked(["pin", "unpin"], row.id);
  return act ? act.do === "pin" : row.pinned;
}

function hasLeft(id) {
  return deletion.ids.includes(id) || Boolean(asked(["archive", "restore", "delete"], id));
}
