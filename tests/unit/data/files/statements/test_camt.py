"""Bank statements in CAMT: entries with their signs and parties, and balances they explain."""

from datetime import date

import duckdb
import pytest

from backend.data.corrections import Corrections
from backend.data.errors import CorrectionRefused, SourceUnusable
from backend.data.files.statements.reading import find_form, read_statement
from backend.files.words import summary
from tests.unit.data.files.uploading import fill

LEFT_OUT = "details that have no column are left out"
IBAN = "DE02120300000000202051"


def money(name, amount, kind="CRDT"):
    """An amount with its sign."""
    return f'<{name} Ccy="EUR">{amount}</{name}><CdtDbtInd>{kind}</CdtDbtInd>'


def balance(code, amount, day):
    """A balance, in credit."""
    kind = f"<Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>"
    return f"<Bal>{kind}{money('Amt', amount)}<Dt><Dt>{day}</Dt></Dt></Bal>"


RENT = f"""<Ntry>{money("Amt", "49.75", "DBIT")}<Sts><Cd>BOOK</Cd></Sts>
<BookgDt><Dt>2026-01-02</Dt></BookgDt><ValDt><Dt>2026-01-03</Dt></ValDt><NtryDtls><TxDtls>
<Refs><EndToEndId>NOTPROVIDED</EndToEndId><AcctSvcrRef>A7</AcctSvcrRef></Refs>
<RltdPties><Dbtr><Pty><Nm>Our own</Nm></Pty></Dbtr>
<Cdtr><Pty><Nm>Müller &amp; Söhne</Nm></Pty></Cdtr>
<CdtrAcct><Id><IBAN>DE12</IBAN></Id></CdtrAcct></RltdPties>
<RmtInf><Ustrd>Invoice 4711</Ustrd><Ustrd>of January</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>"""
BATCH = f"""<Ntry>{money("Amt", "200.00")}<Sts>BOOK</Sts>
<BookgDt><DtTm>2026-01-05T10:00:00</DtTm></BookgDt>
<AddtlNtryInf>Batch</AddtlNtryInf><NtryDtls>
<TxDtls><Amt Ccy="EUR">150.00</Amt><RltdPties><Dbtr><Nm>Ann</Nm></Dbtr></RltdPties></TxDtls>
<TxDtls><Amt Ccy="EUR">{{}}</Amt><RltdPties><Dbtr><Nm>Bob</Nm></Dbtr></RltdPties></TxDtls>
</NtryDtls></Ntry>"""
CARD = f"<Ntry>{money('Amt', '5', 'DBIT')}<Sts>PDNG</Sts><AddtlNtryInf>Card</AddtlNtryInf></Ntry>"


def document(entries, closing="1150.25", prefix="", encoding="UTF-8"):
    """A statement with these entries."""
    balances = balance("OPBD", "1000.00", "2026-01-01") + balance("CLBD", closing, "2026-01-31")
    inner = f"""<Stmt><Id>S</Id><ElctrncSeqNb>7</ElctrncSeqNb>
<Acct><Id><IBAN>{IBAN}</IBAN></Id></Acct>{balances}{entries}</Stmt>"""
    space = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
    text = f"<Document xmlns='{space}'><BkToCstmrStmt>{inner}</BkToCstmrStmt></Document>"
    if prefix:
        text = (
            text.replace("</", "<\0")
            .replace("<", f"<{prefix}:")
            .replace(f"{prefix}:\0", f"/{prefix}:")
        )
        text = text.replace("xmlns=", f"xmlns:{prefix}=")
    prolog = "" if encoding == "UTF-8" else f"<?xml version='1.0' encoding='{encoding}'?>\n"
    return f"{prolog}{text}".encode(encoding)


def understood_of(tmp_path, content):
    """How the statement was read."""
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    form = find_form(path)
    assert form == "CAMT"
    with duckdb.connect() as connection:
        return read_statement(connection, path, form, Corrections())["entries"]


@pytest.mark.parametrize("prefix", ["", "n"])
@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1", "UTF-16"])
def test_entries_have_signs_parties_and_texts(tmp_path, prefix, encoding):
    content = document(RENT + BATCH.format("50.00") + CARD, prefix=prefix, encoding=encoding)

    rows = fill(tmp_path, content, {}, name="a.xml", table="entries")

    first, fifth = date(2026, 1, 2), date(2026, 1, 5)
    rent = ("Müller & Söhne", "DE12", "Invoice 4711 of January", "A7", "booked")
    assert rows == [
        (IBAN, "7", first, date(2026, 1, 3), -49.75, "EUR", *rent),
        (IBAN, "7", fifth, None, 150.0, "EUR", "Ann", None, "Batch", None, "booked"),
        (IBAN, "7", fifth, None, 50.0, "EUR", "Bob", None, "Batch", None, "booked"),
        (IBAN, "7", None, None, -5.0, "EUR", None, None, "Card", None, "pending"),
    ]


def test_balances_are_a_table_of_their_own(tmp_path):
    rows = fill(tmp_path, document(RENT), {}, name="a.xml", table="statement_balances")

    assert rows == [
        (IBAN, "7", "opening", date(2026, 1, 1), 1000.0, "EUR"),
        (IBAN, "7", "closing", date(2026, 1, 31), 1150.25, "EUR"),
    ]


def test_a_batch_whose_parts_do_not_add_up_stays_one_entry(tmp_path):
    ((*_, amount, _, parties, _, text, _, _),) = fill(
        tmp_path, document(BATCH.format("49.00")), {}, name="a.xml", table="entries"
    )

    assert (amount, parties, text) == (200.0, "Ann; Bob", "Batch")


@pytest.mark.parametrize("status", ["<Sts>BOOK</Sts>", ""])
def test_entries_that_explain_their_balances_are_read_without_a_warning(tmp_path, status):
    batch = BATCH.format("50.00").replace("<Sts>BOOK</Sts>", status)
    understood = understood_of(tmp_path, document(RENT + batch))

    assert understood.warnings == []
    assert understood.form == ["a bank statement (CAMT)", "1 statement", LEFT_OUT]
    assert summary([{"facts": understood.facts}, {}]) == (
        "A bank statement in CAMT; its entries and its balances are tables."
    )


def test_an_entry_that_is_not_booked_is_said_and_explains_no_balance(tmp_path):
    understood = understood_of(tmp_path, document(RENT + BATCH.format("50.00") + CARD))

    assert understood.warnings == ["1 entry is not booked: the column status says which."]


def test_entries_that_do_not_are_said_with_what_is_missing(tmp_path):
    (warning,) = understood_of(tmp_path, document(RENT, closing="1000.25")).warnings

    assert warning.endswith(f"What is missing: {IBAN} 7: 50.00.")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (document(RENT)[:-60], "damaged or incomplete"),
        (document(RENT.replace("49.75", "4,5")), "The amount '4,5' of the statement is no number"),
        (document(RENT.replace("49.75", "NaN")), "The amount 'NaN' of the statement is no number"),
        (document(RENT.replace("49.75", "Infinity")), "The amount 'Infinity' of the statement"),
        (document(RENT.replace("49.75", "1e999999999")), "The amount '1e999999999' of the"),
        (
            document(RENT.replace("2026-01-02", "soon")),
            "The date 'soon' of the statement is no date",
        ),
    ],
)
def test_a_damaged_statement_is_refused_with_the_reason(tmp_path, content, said):
    with pytest.raises(SourceUnusable, match=said):
        fill(tmp_path, content, {}, name="a.xml", table="entries")


def test_it_may_be_read_as_a_document_and_its_columns_are_fixed(tmp_path):
    ((page, text),) = fill(
        tmp_path, document(RENT), {"kind": "document"}, name="a.xml", table="pages"
    )

    assert page == 1 and "Invoice 4711" in text
    with pytest.raises(CorrectionRefused, match="fixed"):
        fill(tmp_path, document(RENT), {"types": {"amount": "text"}}, name="a.xml")
