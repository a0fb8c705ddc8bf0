// Large libraries, loaded when they are first needed. They are no modules: each sets a global name.
/** @type {Map<string, Promise<void>>} */
const loading = new Map();

/** @param {string} name @returns {Promise<void>} */
const load = (name) =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(`../vendor/${name}`, import.meta.url).href;
    script.onload = () => resolve();
    script.onerror = () => {
      loading.delete(name); // it may be there the next time
      reject(new Error(`${name} cannot be loaded`));
    };
    document.head.append(script);
  });

/** Load files, each after those before it. @param {string[]} names */
export const libraries = async (...names) => {
  for (const name of names) {
    if (!loading.has(name)) loading.set(name, load(name));
    await loading.get(name);
  }
};
