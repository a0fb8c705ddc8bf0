// The mark of an agent: its initial on a colour derived from its name, the same in all sessions.
// White has a contrast of 4.5 to 1 on each colour (WCAG 1.4.3).
const COLOURS = [
  "#347f78", "#41789f", "#556eb9", "#7a63bf", "#9e51b8", "#b54a91",
  "#b8516b", "#b15a48", "#98683e", "#826f35", "#5d7b32", "#35824f",
];

const crc32 = (text) => {
  let sum = -1;
  for (const byte of new TextEncoder().encode(text)) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ -1) >>> 0;
};

/** @param {string} name */
export const markOf = (name) => ({
  colour: COLOURS[crc32(`agent ${name.toLowerCase()}`) % COLOURS.length],
  initial: (name[0] ?? "?").toUpperCase(),
});
