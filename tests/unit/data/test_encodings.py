"""Texts of few special characters are read in the code page that their language is written in."""

import pytest

from backend.data.reading.encoding import detect_encoding

WESTERN = {
    "German, alone": "Typ;Wert\nÄ;1\nÖ;2\nß;3\n",
    "German, a word": "# T\r\n\r\nmüde\r\n",
    "Spanish": "Año;Valor\n2020;5\n2021;6\n",
    "French": "Libellé;Débit;Crédit\nChèque;1,5;\nPrélèvement;2;3\n",
    "Italian": "Città;Quantità\nForlì;5\nCantù;6\n",
    "Danish": "Navn;By\nSøren;Århus\nJørgen;Tønder\nKær;Næstved\n",
    "Norwegian": "Måned;Beløp\nJanuar;5\nFebruar;6\n",
    "euros": "Preis;Name\n5 €;a\n7 €;b\n",
    "pounds": "Price;Name\n£5;a\n£7;b\n",
    "degrees": "Temp;Name\n5°C;a\n7 m³;b\n",
}
CENTRAL = {
    "Polish": "Nazwa;Ilość\nChleb;5\nMleko;6\n",
    "Czech": "Jméno;Město\nJiří;Plzeň\nTomáš;Příbram\nŽofie;Děčín\n",
    "Hungarian": "Név;Város\nLőrinc;Győr\nÁrvíztűrő;Szeged\n",
}
OTHERS = {
    "cp1251": "Name;Город\nIvan;Москва\nAnna;Казань\n",
    "cp1253": "Όνομα;Πόλη\nΓιώργος;Αθήνα\nΕλένη;Πάτρα\n",  # noqa: RUF001
    "cp932": "名前;都市\n田中;東京\nテスト;大阪\n",
    "gb18030": "姓名;城市\n张伟;北京\n李娜;上海\n",
    "big5": "姓名;城市\n張偉;台北\n李娜;高雄\n",
    "cp949": "이름;도시\n김철수;서울\n이영희;부산\n",
}
TEXTS = [
    *(("cp1252", text) for text in WESTERN.values()),
    *(("cp1250", text) for text in CENTRAL.values()),
    *OTHERS.items(),
]


@pytest.mark.parametrize(("codec", "text"), TEXTS, ids=[*WESTERN, *CENTRAL, *OTHERS])
def test_a_short_text_is_read_as_it_was_written(codec, text, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(codec))

    encoding = detect_encoding(path)

    assert path.read_bytes().decode(encoding.codec) == text
    assert "guess" in encoding.warning
