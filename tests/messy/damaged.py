"""Messes of single records: damaged quotes, and rows that have not as many cells as the header."""

from datetime import time

from tests.messy.mess import NULL, D, Mess, text


def damaged_records() -> list[Mess]:
    """Records that a program or a person damaged: each is read rightly, or its line is named."""
    items = "id BIGINT, item VARCHAR, amount BIGINT, remark VARCHAR"
    goods = "sku VARCHAR, name VARCHAR, note VARCHAR, qty BIGINT"
    head = "id,item,amount,remark\n"
    paths = "folder VARCHAR, owner VARCHAR, size BIGINT"
    return [
        text("quote lost at the end", f'{head}1,Paper,10,"ok, paid"\n2,Toner,20,"open\n3,Chair,30,"paid"\n4,Desk,40,"late, paid"\n',
             items, [[1, "Paper", 10, "ok, paid"], [2, "Toner", 20, '"open'], [3, "Chair", 30, "paid"], [4, "Desk", 40, "late, paid"]],
             "1 line has quotes out of place", "line 3: '2,Toner,20,\"open'"),
        text("quote lost within", f'{head}1,"Paper, white",10,"ok"\n2,"Toner, 20,open\n3,"Chair, red",30,"paid"\n4,Desk,40,late\n',
             items, [[1, "Paper, white", 10, "ok"], [2, '"Toner', 20, "open"], [3, "Chair, red", 30, "paid"], [4, "Desk", 40, "late"]],
             "line 3: "),
        text("quote lost at the end of two rows", f'{head}1,Paper,10,"ok\n2,Toner,20,"open\n3,Chair,30,paid\n',
             items, [[1, "Paper", 10, '"ok'], [2, "Toner", 20, '"open'], [3, "Chair", 30, "paid"]], "2 lines have quotes out of place"),
        text("quotes lost at both ends of two rows", f'{head}1,Paper,10,ok\n2,Toner,20,"open\n3,Chair,30,paid"\n4,Desk,40,late\n5,Lamp,50,ok\n',
             items, [[1, "Paper", 10, "ok"], [2, "Toner", 20, "open\n3,Chair,30,paid"], [4, "Desk", 40, "late"], [5, "Lamp", 50, "ok"]],
             "a quoted text of several lines like rows, read as one row: line 3"),
        text("quotes not doubled", 'sku,name,note,qty\nA1,"Table, round 48"","oak, waxed",3\nA2,"Boxer, 5" inseam","soft, light",4\nA3,"Stool, high","raw",5\n',
             goods, [["A1", 'Table, round 48"', "oak, waxed", 3], ["A2", 'Boxer, 5" inseam', "soft, light", 4], ["A3", "Stool, high", "raw", 5]],
             "2 lines have quotes out of place", "line 2", "line 3"),
        text("text after a closing quote", 'sku,name,note,qty\nA1,"Table, round" new,"oak, waxed",3\nA2,"Stool, high","raw",5\nA3,Bench,"raw, old",6\n',
             goods, [["A1", '"Table, round" new', "oak, waxed", 3], ["A2", "Stool, high", "raw", 5], ["A3", "Bench", "raw, old", 6]],
             "1 line has quotes out of place", "line 2"),
        text("quote too many", 'sku,name,note,qty\nA1,""Table, round","oak, waxed",3\nA2,"Stool, high","raw",5\n"A3,Bench,raw,6\n',
             goods, [["A1", '"Table, round', "oak, waxed", 3], ["A2", "Stool, high", "raw", 5], ['"A3', "Bench", "raw", 6]],
             "line 2", "line 4"),
        text("paths that end in a backslash", 'folder,owner,size\n"C:\\Data\\","Kim",10\n"D:\\Archive\\","Ada",30\n"E:\\","Bob",40\n',
             paths, [["C:\\Data\\", "Kim", 10], ["D:\\Archive\\", "Ada", 30], ["E:\\", "Bob", 40]]),
        text("a single escaped quote among paths", 'folder,owner,size\n"C:\\Data\\","Kim \\"K\\" Ho",10\n"D:\\Archive\\","Ada",30\n"E:\\","Bob",40\n',
             paths, [["C:\\Data\\", 'Kim \\"K\\" Ho', 10], ["D:\\Archive\\", "Ada", 30], ["E:\\", "Bob", 40]], "line 2"),
        text("a backslash escapes quotes only", 'a,b\n"8\\\'9\\" long, thin","x"\n"C:\\temp","y"\n"5\\"","z"\n',
             "a VARCHAR, b VARCHAR", [["8\\'9\" long, thin", "x"], ["C:\\temp", "y"], ['5"', "z"]], "a backslash before a quote escapes it"),
        text("comma in a number, last column empty", f"{head}1,Paper,10,\n2,Toner,20,\n3,Chair,1,200,\n4,Desk,40,\n",
             items, [[1, "Paper", 10, NULL], [2, "Toner", 20, NULL], [3, "Chair", 1200, NULL], [4, "Desk", 40, NULL]],
             "1 line has a number that its comma cuts in two", "line 4"),
        text("cell too many, last column empty", f"{head}1,Paper,10,\n2,,Toner,20,\n3,Chair,30,\n",
             "id BIGINT, item VARCHAR, amount VARCHAR, remark BIGINT",
             [[1, "Paper", "10", NULL], [2, NULL, "Toner", 20], [3, "Chair", "30", NULL]], "1 row has more cells than the header", "line 3"),
        text("cell too few, last column empty", f"{head}1,Paper,10,\n2,Toner 20,\n3,Chair,30,\n",
             items, [[1, "Paper", 10, NULL], [2, "Toner 20", NULL, NULL], [3, "Chair", 30, NULL]], "1 row has fewer cells than", "line 3"),
        text("cell too many beside separators at each end", "id,item,amount\n1,Paper,10,\n2,Toner,20,\n3,Chair,1,200\n4,Desk,40,\n5,Lamp,50,\n",
             "id BIGINT, item VARCHAR, amount BIGINT, surplus_cells VARCHAR",
             [[1, "Paper", 10, NULL], [2, "Toner", 20, NULL], [3, "Chair", 1, "200"], [4, "Desk", 40, NULL], [5, "Lamp", 50, NULL]],
             "1 row has more cells than most rows", "line 4"),
        text("row with another separator", f"{head}1,Paper,10,ok\n2;Toner;20;open\n3,Chair,30,paid\n",
             items, [[1, "Paper", 10, "ok"], [2, "Toner", 20, "open"], [3, "Chair", 30, "paid"]], "another separator", "line 3"),
        text("header longer than rows", "sku,name,qty,remark\nA1,Shirt,3\nA2,Vest,4\nA3,Hat,5\n",
             "sku VARCHAR, name VARCHAR, qty BIGINT, remark VARCHAR", [["A1", "Shirt", 3, NULL], ["A2", "Vest", 4, NULL], ["A3", "Hat", 5, NULL]],
             "The header has 4 cells, most rows have 3: 'remark' has no cells"),
        text("header without a name for the numbers of rows", "name,qty\n1,Shirt,3\n2,Vest,4\n3,Hat,5\n",
             "column_1 BIGINT, name VARCHAR, qty BIGINT", [[1, "Shirt", 3], [2, "Vest", 4], [3, "Hat", 5]],
             "The header has 2 cells, most rows have 3: the first column has no name"),
        text("header without a name for the labels of rows", "mpg cyl\nFiat 32 4\nFord 15 8\nHonda 30 4\n",
             "column_1 VARCHAR, mpg BIGINT, cyl BIGINT", [["Fiat", 32, 4], ["Ford", 15, 8], ["Honda", 30, 4]], "the first column has no name"),
        text("header without a name for the last column", "sku,name\nA1,Shirt,3\nA2,Vest,4\nA2,Hat,5\n",
             "sku VARCHAR, name VARCHAR, column_3 BIGINT", [["A1", "Shirt", 3], ["A2", "Vest", 4], ["A2", "Hat", 5]],
             "The header has 2 cells, most rows have 3: the last column has no name"),
        text("spaces between cells, with times", "day clock qty sku\n28/01/2026 00:00 2 MG-8\n29/01/2026 00:15 0 RI-3\n30/01/2026 00:30 1 RI-8\n",
             "day DATE, clock TIME, qty BIGINT, sku VARCHAR",
             [[D("2026-01-28"), time(0), 2, "MG-8"], [D("2026-01-29"), time(0, 15), 0, "RI-3"], [D("2026-01-30"), time(0, 30), 1, "RI-8"]], "separated by spaces"),
        text("titles of sentences", "Created as New Dataset,Sample 022 By Operator Saturday\ncm-1,%T\n4000.00,98.1\n3999.00,98.2\n",
             "cm-1 DOUBLE, %T DOUBLE", [[4000.0, 98.1], [3999.0, 98.2]], "1 line of titles", "Sample 022"),
        text("title wider than the table", "Run,2,A,final\ncm-1,%T\n4000.00,98.1\n3999.00,98.2\n",
             "cm-1 DOUBLE, %T DOUBLE", [[4000.0, 98.1], [3999.0, 98.2]], "1 line of titles", "Run | 2 | A | final"),
    ]  # fmt: skip
