"""What a domain is: its name, its model, its prompt, the questions that it offers."""

from ui.features.domains.form import fields
from ui.features.domains.form.choices import Choices
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import About

NAME = About("Name", "What people choose when they start a chat.", "finance")
DESCRIPTION = About(
    "Description", "A sentence that people see below the name.", "Budgets and ledgers, by month."
)
MODEL = About("Model", "Which model answers. One that the list does not have may be written.")
MODELS = About(
    "Further models to choose from",
    "People may choose one of them for a message; the model above stays the default.",
)
PROMPT = About(
    "System prompt",
    "What the model reads before each conversation: who it is, what it knows, how it answers. Each"
    " agent may have its own.",
    "You are a careful analyst. Ask the sources before you answer, and name them.",
)
SUGGESTIONS = About(
    "Suggested questions",
    "The page of a new chat offers them to begin with. One on each line.",
    "Which cost centres spent the most this year?",
)


def show(draft: Draft, choices: Choices) -> None:
    """Draw the fields."""
    fields.text(draft, ("name",), NAME, most=80)
    fields.text(draft, ("description",), DESCRIPTION)
    default = f"As the settings say ({choices.catalog.default_model})"
    fields.choice(draft, ("model",), MODEL, choices.models, nothing=default, new=True)
    fields.many(draft, ("models",), MODELS, choices.models)
    fields.area(draft, ("system_prompt",), PROMPT, height=240)
    fields.lines(draft, ("suggestions",), SUGGESTIONS)
