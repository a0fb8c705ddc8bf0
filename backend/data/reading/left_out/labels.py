"""The words by which rows call themselves totals, averages, balances or results, by language.

A word alone decides nothing: a company may be named Total, a person Max. The figures decide
(`rollups.py`). The patterns are for RE2, as DuckDB has it; those without \\p also for Python.
"""

import re
from collections.abc import Sequence
from enum import StrEnum


class Label(StrEnum):
    """What a row calls itself; NONE if its label is empty where the other rows have one."""

    TOTAL = "total"
    AVERAGE = "average"
    MINIMUM = "smallest value"
    MAXIMUM = "largest value"
    COUNT = "count"
    OPENING = "opening balance"
    CLOSING = "closing balance"
    RESULT = "result"
    NONE = "row without a label"


STATISTICS = (Label.AVERAGE, Label.MINIMUM, Label.MAXIMUM, Label.COUNT)
AROUND = "[ \u00a0:*=]*"  # a label
STARS = " *[*]{1,6}"  # before SAP's totals, by level: *, * 1000, **

_TOTAL_WORDS = r"""
    totals? totale[ns]? totali totalt totaal eindtotaal sub[-\s]?total(?:e|en|s)? subtotaal
    sous[-\s]total (?:gesamt|zwischen|teil|end)?summe gesamt gesamtbetrag insgesamt
    (?:gesamt|teil)ergebnis somme somma suma soma summa razem ogółem łącznie celkem mezisoučet
    összesen toplam итого итог всего 合计 总计 小计 合計 総計 總計 小計 합계 총합계 소계 [Σ∑]
"""
_TOTAL = f"(?:{'|'.join(_TOTAL_WORDS.split())})"
_LONG_TOTAL = (
    f"(?i:{_TOTAL}|sum|(?:grand|overall|general|genel|общий) {_TOTAL}"
    "|(?:total|totale|suma) (?:g[eé]n[eé]rale?|geral|complessivo|końcowa|całkowita))"
)
# The label of a total without other words: Total, Gesamtsumme, Suma końcowa.
PLAIN_TOTAL = f"(?i:som|{_LONG_TOTAL})"
# One that may name a group, before or after: North Total, Summe Nord, Nord Ergebnis, Sum of costs.
# Som begins names of people and dishes, too.
TOTAL = (
    rf"(?:{_LONG_TOTAL}(?:[^\pL\pN].*)?|(?i:som(?:\s+[0-9].*|\s*[^\pL\pN\s].*| van .*)?)"
    rf"|(?i:.*[^\pL\pN]{_TOTAL}|.+ ergebnis))"
)

_PLAIN: dict[Label, str] = {
    Label.AVERAGE: (
        r"(?:average|avg\.?|mean|median|durchschnitt(?:swert)?|mittel(?:wert)?|ø|⌀|moyenne|promedio"
        r"|media|média|gemiddelden?|średnia|medel(?:värde)?|gennemsnit|průměr|átlag|ortalama"
        r"|средн(?:ее|яя)|平均(?:值|値)?|평균)"
    ),
    Label.MINIMUM: r"(?:min\.?|minimum|minimo|mínimo|minimalwert|minst|минимум|最小(?:值|値)?|최소(?:값)?)",
    Label.MAXIMUM: r"(?:max\.?|maximum|massimo|máximo|maximalwert|störst|максимум|最大(?:值|値)?|최대(?:값)?)",
    Label.COUNT: r"(?:count|anzahl|nombre|conteggio|recuento|contagem|aantal|liczba|antal|počet|darab|adet|количество|计数|件数|개수)",
    Label.OPENING: (
        r"(?:(?:opening|beginning|starting|initial|previous|prior) balance"
        r"|balance (?:b/f|b/d|brought (?:forward|down)|forward)"
        r"|(?:anfangs|eröffnungs|start)(?:bestand|saldo)|saldovortrag|(?:alter|vorheriger) saldo"
        r"|solde (?:initial|d['’]ouverture|de départ|reporté|précédent)|report à nouveau"
        r"|saldo (?:inicial|de apertura|anterior|de abertura|iniziale|d['’]apertura|precedente)"
        r"|(?:begin|openings|start)saldo|saldo (?:początkowe|otwarcia)"
        r"|ingående (?:saldo|balans)|počáteční zůstatek|nyitó egyenleg"
        r"|(?:açılış|devreden) bakiye(?:si)?"
        r"|(?:начальн(?:ый|ое)|входящ(?:ий|ее)) (?:остаток|сальдо)|(?:остаток|сальдо) на начало"
        r"|期初(?:余额|餘額)|期首残高|前期繰越|기초\s?잔액|전기\s?이월)"
    ),
    Label.CLOSING: (
        r"(?:(?:closing|ending|final|current|new) balance"
        r"|balance (?:c/f|c/d|carried (?:forward|down))"
        r"|(?:end|schluss|schluß|abschluss)(?:bestand|saldo)|neuer saldo"
        r"|(?:nouveau solde|solde (?:final|de clôture))"
        r"|saldo (?:final|de cierre|de fechamento|finale|di chiusura)"
        r"|(?:eind|slot)saldo|saldo (?:końcowe|zamknięcia)"
        r"|utgående (?:saldo|balans)|konečný zůstatek|záró egyenleg|kapanış bakiye(?:si)?"
        r"|(?:конечн(?:ый|ое)|исходящ(?:ий|ее)) (?:остаток|сальдо)|(?:остаток|сальдо) на конец"
        r"|期末(?:余额|餘額)|期末残高|次期繰越|기말\s?잔액|차기\s?이월)"
    ),
    Label.RESULT: (
        r"(?:(?:net|gross|operating|pre[-\s]?tax) (?:income|profit|loss|earnings|result|margin"
        r"|surplus|profit/loss|profit \(loss\)|income \(loss\))"
        r"|(?:profit|income|earnings)(?: or loss)? (?:before|after) (?:income )?tax(?:es)?"
        r"|ebita?|ebitda|ebt"
        r"|jahres(?:überschuss|überschuß|fehlbetrag|ergebnis)|rein(?:gewinn|verlust)|bilanzgewinn"
        r"|(?:netto|brutto|betriebs|roh)(?:gewinn|ergebnis|ertrag)"
        r"|ergebnis (?:vor|nach) steuern"
        r"|(?:résultat|bénéfice) (?:net|brut|d['’]exploitation|opérationnel)|marge brute"
        r"|(?:beneficio|utilidad|resultado|ingreso|margen) (?:neto|bruto|operativo)"
        r"|(?:utile|reddito|risultato|margine) (?:netto|lordo|operativo)|utile d['’]esercizio"
        r"|(?:lucro|resultado|rendimento) (?:líquido|bruto|operacional)"
        r"|(?:netto|bruto|bedrijfs)(?:winst|resultaat|inkomen)"
        r"|(?:zysk|dochód|wynik) (?:netto|brutto|operacyjny)"
        r"|årets resultat|(?:netto|brutto|rörelse)(?:resultat|vinst)"
        r"|(?:čistý|hrubý|provozní) (?:zisk|výsledek)|(?:nettó|adózott|üzemi) eredmény"
        r"|(?:net|brüt|faaliyet) (?:kâr|kar|gelir)[ıi]?"
        r"|(?:чистая|валовая|операционная) прибыль|чистый доход"
        r"|净利润?|淨利潤?|净收入|毛利润?|営業利益|(?:当期)?純利益|粗利益?|(?:당기)?순이익|영업이익)"
    ),
}  # fmt: skip
_GROUPED = (Label.AVERAGE,)  # that may name a group, before or after: North Average
_words = {label: re.compile(f"(?i){AROUND}{pattern}{AROUND}") for label, pattern in _PLAIN.items()}
_plain_total = re.compile(f"{AROUND}{PLAIN_TOTAL}{AROUND}|{STARS} *")


def other_labels() -> str:
    """Return the pattern of all labels but those of totals, for RE2."""
    return f"(?i:{AROUND}(?:{'|'.join(_with_group(label) for label in _PLAIN)}){AROUND})"


def label_of(cells: Sequence[str]) -> Label:
    """Return what a row calls itself by its first filled cells; a total, if it is none of others."""
    for cell in cells:
        for label, words in _grouped.items():
            if words.fullmatch(cell):
                return label
    return Label.TOTAL


def is_plain(cells: Sequence[str]) -> bool:
    """Return whether a label has no other words."""
    return any(
        pattern.fullmatch(cell) for cell in cells for pattern in (_plain_total, *_words.values())
    )


def _with_group(label: Label) -> str:
    words = _PLAIN[label]
    return f"(?:{words}(?: .*)?|.* {words})" if label in _GROUPED else words


_grouped = {label: re.compile(f"(?i){AROUND}{_with_group(label)}{AROUND}") for label in _PLAIN}
