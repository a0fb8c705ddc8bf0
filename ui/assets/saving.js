// A button that saves a text of the page, or what the API answers to a question.

/** @param {Blob} blob @param {string} name */
export const save = (blob, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
};

const asked = async ({ url, body }) => {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.ok) return answer.blob();
  const { title, detail } = await answer.json().catch(() => ({}));
  throw new Error(title ? `${title}. ${detail}` : `Not saved: HTTP status ${answer.status}.`);
};

export const mount = ({ parentElement, data }) => {
  const button = parentElement.querySelector("button");
  const said = button.querySelector(".said");
  said.textContent = data.label;
  button.title = data.help || data.label;
  button.onclick = async () => {
    button.disabled = true;
    try {
      save(data.url ? await asked(data) : new Blob([data.text], { type: "text/plain" }), data.name);
      said.textContent = data.label;
    } catch (error) {
      said.textContent = error instanceof TypeError ? "The service does not answer." : error.message;
    }
    button.disabled = false;
  };
};
