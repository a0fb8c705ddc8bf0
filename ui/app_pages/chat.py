"""The chat page: the conversation, which the browser draws by itself, and the panel beside it."""

from ui.features.conversation import component, panel

panel.show(component.show("chat").get("panel"))
