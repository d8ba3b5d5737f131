"""A drawing that was made smaller looks the same."""

import re

from onesided.report import svg

FONT = "Sans, Arial"
DRAWN = f"""<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50" viewBox="0 0 100 50">
<g fill="none" transform="translate(5,5)"><g class="mark-group role-frame" role="graphics-object">
<g transform="translate(0,0)"><path class="background" aria-hidden="true" d="M0,0h9v9h-9Z"/><g>
<path class="background" d="M0,0h9v9h-9Z" fill="#eee"/>
<g class="mark-rule" clip-path="url(#clip7)" pointer-events="none">
<line transform="translate(1,2)" x2="0" y2="9" stroke="#111" opacity="1"/>
<line transform="translate(3.456789,2)" x2="0" y2="9" stroke="#111" opacity="1"/>
<line transform="translate(0,0)" x2="4" y2="0" stroke="#222"/></g>
<path d="M0,0L9,9" stroke="#555"/>
<path transform="translate(1,1)" d="M-2,0h4" stroke="#333"/>
<path transform="translate(2,2)" d="M-2,0h4" stroke="#333"/>
<path transform="translate(3,3)" d="M0,-2v4" stroke="#444"/>
<text font-family="{FONT}" font-weight="normal" transform="translate(4,4)">1 &lt; 2</text>
<path class="foreground" display="none" d=""/>
</g></g></g></g><defs><clipPath id="clip7"><rect width="9" height="9"/></clipPath></defs></svg>"""


def small():
    return svg.small(DRAWN.replace("\n", ""), "one", FONT)


def test_frames_without_a_colour_and_groups_that_say_nothing_are_left_out():
    drawn = small()
    assert drawn.count("<g ") == 2  # the place of all, and the clip
    assert "class=" not in drawn and "aria" not in drawn and 'display="none"' not in drawn
    assert 'fill="#eee"' in drawn


def test_lines_that_look_alike_are_one_path():
    drawn = small()
    assert "<line" not in drawn
    assert '<path d="M1,2l0,9M3.46,2l0,9" stroke="#111"/>' in drawn
    assert '<path d="M0,0l4,0" stroke="#222"/>' in drawn


def test_marks_that_look_alike_are_one_path_with_the_mark_at_each_vertex():
    drawn = small()
    [(mark, shape)] = re.findall(r'<marker id="([^"]+)"[^>]*><path d="(M-2[^"]*)"', drawn)
    assert shape == "M-2,0h4"
    assert f'<path d="M1,1L2,2" fill="none" stroke="none" marker-start="url(#{mark})"' in drawn
    assert drawn.index('d="M0,0L9,9"') < drawn.index(mark)


def test_a_mark_alone_of_its_look_is_drawn_too():
    # a browser draws no marker on a path without length
    assert '<path d="M3,3h0" fill="none" stroke="none" marker-start=' in small()


def test_the_font_is_named_once_and_clips_after_their_drawing():
    drawn = small()
    assert drawn.count(FONT) == 1
    assert 'clip-path="url(#clip-one-0)"' in drawn and 'id="clip-one-0"' in drawn
    assert ">1 &lt; 2</text>" in drawn


def test_hatching_is_there_where_something_is_shaded_and_nowhere_else():
    drawn = small()
    assert svg.hatched(drawn, "one", "#123456", "#000") == drawn
    shaded = svg.hatched(drawn, "one", "#eee", "#000")
    assert 'fill="url(#hatch-one)"' in shaded and '<pattern id="hatch-one"' in shaded
