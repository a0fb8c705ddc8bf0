"""Which characters the fonts of a PDF can draw; missing ones are reported to the person. Pure."""

import unicodedata
from bisect import bisect_right

from backend.text import first_of

# Read from the fonts bundled with this version of Typst, without their private characters.
TYPST_VERSION = "0.15.2"
_COVERED = """
20-7F A0-377 37A-37F 384-38A 38C 38E-3A1 3A3-4FF 510-513 51A-51D 531-58F 591-5C7 5D0-5EB 5EF-5F5
5F7 606-60C 615 61B 61F 621-63A 640-655 65A 660-66D 674 679-67B 67E-680 683-684 686-687 691 698
6A4 6A9 6AF 6BE 6CC 6F0-6F9 900-97F E3F E81-E82 E84 E87-E88 E8A E8D E94-E97 E99-E9F EA1-EA3 EA5
EA7 EAA-EAB EAD-EB9 EBB-EBC EC8-ECD 10D0-10FF 13A0-13FD 1AB0-1ACE 1D00-1F15 1F18-1F1D 1F20-1F45
1F48-1F4D 1F50-1F57 1F59-1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FC4 1FC6-1FD3 1FD6-1FDB 1FDD-1FEF
1FF2-1FF4 1FF6-1FFE 2000-2029 202F-2064 2070-2071 2074-208E 2090-209C 20A0-20C0 20D0-20F0
2100-2151 2153-2184 2189 2190-23FF 2422-2423 2460-262F 2638-268B 2690-269C 26A0-26A7 26AA-26B2
2701-2704 2706-2709 270C-274B 274D 274F-2752 2756 2758-275E 2761-277F 2794 2798-27AF 27B1-2B73
2B76-2B95 2B97-2BFF 2C60-2CF3 2CF9-2CFF 2E02-2E05 2E08-2E0A 2E17-2E18 2E1F 2E22-2E25 2E2E
3012-3017 301A-301B 3030 3036 306E A46A-A46B A640-A641 A648-A649 A656-A657 A708-A716 A71B-A727
A72D-A730 A735 A765 A789-A78E A790-A791 A793 A7AA A7F8-A7F9 AB52 AB66 AB70-ABBF FB00-FB06
FB13-FB17 FB1D-FB4F FB52-FB81 FB8A-FB95 FB9E-FB9F FBAA-FBAD FBE8-FBE9 FBFC-FBFF FE00-FE01
FE20-FE2F FE66 FE70-FE74 FE76-FEFC FEFF FFF9-FFFD 10140-1018E 102E0-102FB 1D106-1D107
1D400-1D454 1D456-1D49C 1D49E-1D49F 1D4A2 1D4A5-1D4A6 1D4A9-1D4AC 1D4AE-1D4B9 1D4BB 1D4BD-1D4C3
1D4C5-1D505 1D507-1D50A 1D50D-1D514 1D516-1D51C 1D51E-1D539 1D53B-1D53E 1D540-1D544 1D546-1D547
1D54A-1D550 1D552-1D6A5 1D6A8-1D7CB 1D7CE-1D7FF 1EE00-1EE22 1EE24 1EE27 1EE29-1EE32 1EE34-1EE37
1EE39 1EE3B 1EE42 1EE47 1EE49 1EE4B 1EE4D-1EE4F 1EE51-1EE52 1EE54 1EE57 1EE59 1EE5B 1EE5D 1EE5F
1EE61-1EE62 1EE64 1EE67-1EE6A 1EE6C-1EE72 1EE74-1EE77 1EE79-1EE7C 1EE7E-1EE89 1EE8B-1EE9B
1EEA1-1EEA3 1EEA5-1EEA9 1EEAB-1EEBB 1EEF0-1EEF1 1F12F 1F6D1 1F780-1F7D8 1F7E0-1F7EB 1F7FF-1F80B
1F810-1F847 1F850-1F859 1F860-1F887 1F890-1F8AD 1F8B0-1F8BB 1F8C0-1F8C1 1F8D0-1F8D8
"""
_MOST_NAMED = 3
_INVISIBLE = ("Cc", "Cf", "Zl", "Zp", "Zs")


def find_missing(text: str) -> list[str]:
    """Return the characters that no font has, each once, in order."""
    return [sign for sign in dict.fromkeys(text) if not _is_drawn(sign)]


def say_missing(missing: list[str]) -> str:
    """Return the notice for a document with these characters; empty if there are none."""
    if not missing:
        return ""
    named = first_of([f"U+{ord(sign):04X}" for sign in missing], _MOST_NAMED)
    return (
        f"The fonts of this PDF cannot draw {named}: boxes are shown instead. "
        "Download the document as a web page or as Markdown to see them."
    )


def _read(ranges: str) -> tuple[list[int], list[int]]:
    pairs = [one.partition("-") for one in ranges.split()]
    return [int(a, 16) for a, _, _ in pairs], [int(b or a, 16) for a, _, b in pairs]


_FIRST, _LAST = _read(_COVERED)


def _is_drawn(sign: str) -> bool:
    code = ord(sign)
    place = bisect_right(_FIRST, code) - 1
    return (place >= 0 and code <= _LAST[place]) or unicodedata.category(sign) in _INVISIBLE
