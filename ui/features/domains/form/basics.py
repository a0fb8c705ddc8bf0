"""The basics of a domain: its name, model, prompt and suggested questions."""

from ui.features.domains.form import fields
from ui.features.domains.form.choices import Choices
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import About

NAME = About("Name", "People choose it when they start a chat.", "finance")
DESCRIPTION = About(
    "Description", "A sentence shown below the name.", "Budgets and ledgers, by month."
)
MODEL = About("Model", "The model that answers. You can type one that is not in the list.")
MODELS = About(
    "Additional models",
    "People can choose one of these for a message; the model above stays the default.",
)
PROMPT = About(
    "System prompt",
    "What the model reads before each conversation: its role, its knowledge, how it answers."
    " Each agent can have its own.",
    "You are a careful analyst. Ask the sources before you answer, and name them.",
)
SUGGESTIONS = About(
    "Suggested questions",
    "Shown on the page of a new chat. One per line.",
    "Which cost centres spent the most this year?",
)


def show(draft: Draft, choices: Choices) -> None:
    """Draw the fields."""
    fields.text(draft, ("name",), NAME)
    fields.text(draft, ("description",), DESCRIPTION)
    default = f"From the settings ({choices.catalog.default_model})"
    fields.choice(draft, ("model",), MODEL, choices.models, nothing=default, new=True)
    fields.many(draft, ("models",), MODELS, choices.models)
    fields.area(draft, ("system_prompt",), PROMPT, height=240)
    fields.lines(draft, ("suggestions",), SUGGESTIONS)
