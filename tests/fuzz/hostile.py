"""Invalid values for any input: numbers, texts, keys and tags; `{bait}` is a path."""

LONG = 200_000
DEEP = 5_000
MANY = 3_000
NOT_FINITE = ("NaN", ".nan", "Infinity", "-.inf", "1e400", "1.0e+400")
NO_NUMBERS = ("9" * 5000, "0x" + "f" * 5000, "18446744073709551616", "-9223372036854775809", "-1",
              "0", "1.0", "6.5", "1e-320", "1:1:1:1:1:1:1:1:1:1:1:1:1", "0777", "1_0")  # fmt: skip
CONTROLS = ("a\nb", "a\r\nonesided: all is well", "\x1b[2J\x1b[31mred", "a\0b", "\u2028",
            "\u202egnp", "\ud800", "\x85", "\x7f", "\ufeff", "\t", "\x0b")  # fmt: skip
PATHS = ("../../outside", "/etc/passwd", "..", ".", "a/../../b", "~root", "-rf", "con/./x", "//x",
         "attempt-1/../../..", "file:///etc/passwd")  # fmt: skip
COMMANDS = ("$(touch {bait})", "`touch {bait}`", "; touch {bait}", "x | touch {bait} #",
            "' ; touch {bait} ; '", '" ; touch {bait} ; "', "&& touch {bait}", "\ntouch {bait}\n",
            "__import__('os').system('touch {bait}')", "${{IFS}}touch${{IFS}}{bait}")  # fmt: skip
QUOTES = ("'", '"', "\\", "it's", '"; --', "%s%n", "{0}", "{{7*7}}", "#", "a: b", "- a", "*",
          "(a+)+$", "[", "(?P<", "x" * 70)  # fmt: skip
SCRIPTS = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style><svg/onload=x>",
           "javascript:alert(1)", "]]>", "<!--", "&lt;b&gt;")  # fmt: skip
OTHER_SCRIPTS = ("größe", "٣", "\uff11\uff12", "مثال", "e\u0301", "🙂", "ﬁ", "K", "\u00a0", "İ")
TAGS = ('!!python/object/apply:os.system ["touch {bait}"]', "&a [*a]", "{{<<: &b {{c: *b}}}}",
        "*none", "!!binary aGk=", "!!set {{a, b}}", "2026-99-99", "2026-01-01", "!!omap [a: 1]",
        "? [1, 2]\n", "!!float x", "!!int ''", "!unknown x",
        "[&x [1], " + ", ".join(["*x"] * 500) + "]")  # fmt: skip
