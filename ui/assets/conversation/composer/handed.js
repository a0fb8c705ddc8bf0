// Files that a person drops or pastes.

/** Pasted files; none where copied cells are pasted: spreadsheet programs add a picture of them.
 * @param {DataTransfer | null} held */
export const pasted = (held) => {
  const files = [...(held?.files ?? [])];
  const text = held?.getData("text/plain");
  const isFileName = files.some(({ name }) => name === text); // of a file copied on a Mac
  const arePictures = files.every(({ type }) => type.startsWith("image/"));
  return text && arePictures && !isFileName ? [] : files;
};

const within = async (entry) => {
  if (entry.isFile) return [await new Promise((done, fail) => entry.file(done, fail))];
  const reader = entry.createReader();
  const found = [];
  for (;;) { // a folder is read a hundred entries at a time
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!some.length) return (await Promise.all(found.map(within))).flat();
    found.push(...some);
  }
};

/** Dropped files, with those within folders. @param {DataTransfer} held @returns {Promise<File[]>} */
export const dropped = async (held) => {
  const entries = [...held.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...held.files];
  return (await Promise.all(entries.map(within))).flat();
};
