"""How the person who asked for a document reads numbers, days and times. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from backend.errors.base import InvalidInput
from backend.tabular.locales import known, known_zone, write_day, write_number


@dataclass(frozen=True)
class Reader:
    """The reader of a document; `locale` is one that is known, such as `de-CH`."""

    locale: str | None = None
    zone: tzinfo = UTC

    def moment(self, when: datetime) -> str:
        """Return a moment with its zone: 25.11.2026 11:39 CET."""
        local = when.astimezone(self.zone)
        return f"{write_day(local.date().isoformat(), self.locale)} {local:%H:%M %Z}"

    def count(self, number: int) -> str:
        """Return a whole number, grouped."""
        return write_number(number, self.locale)


def find_reader(locale: str | None, timezone: str | None) -> Reader:
    """Return the reader with this locale and timezone. Raise InvalidInput for unknown ones."""
    if locale and known(locale) is None:
        raise InvalidInput(f"The locale {locale[:80]} is unknown. Give one such as de-CH.")
    if timezone and known_zone(timezone) is None:
        raise InvalidInput(
            f"The timezone {timezone[:80]} is unknown. Give one such as Europe/Zurich."
        )
    return Reader(locale, known_zone(timezone) or UTC)
