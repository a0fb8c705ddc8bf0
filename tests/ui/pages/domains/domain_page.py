"""What tests do on the administrators' page of domains, and read of it."""

from tests.ui.seen import words

PAGE = "app_pages/administration/domains.py"


def said(page) -> str:
    """All words of the page, without what keeps Markdown from reading them."""
    kinds = (page.toast, page.warning, page.error, page.info)
    more = [element.value for kind in kinds for element in kind]
    return "\n".join([words(page), *more]).replace("\\", "").replace("&#58;", ":")


def save(page, domain):
    return page.button(key=f"domain-{domain.id}-save").click().run()


def field(page, domain, name):
    key = f"domain-{getattr(domain, 'id', domain)}-{name}"
    kinds = ("text_input", "text_area", "number_input", "toggle", "multiselect", "selectbox")
    return next(w for kind in kinds for w in getattr(page, kind) if w.key == key)


def section(page, domain, name):
    """Open a tab of the form."""
    page.session_state[f"section-domain-{getattr(domain, 'id', domain)}"] = name
    return page.run()


def view(page, domain, name):
    key = f"shown-domain-{getattr(domain, 'id', domain)}"
    return page.segmented_control(key=key).set_value(name).run()


def press(page, label):
    return next(b for b in page.button if b.label == label).click().run()


def newest(page, kind, label):
    """The field of this label that was drawn last."""
    return next(w for w in reversed(getattr(page, kind)) if w.label == label)
