"""Layered services drawn: all words can be read, no boxes overlap, and load is in colour."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.text import Text

from headway.errors import GraphError
from headway.models import parse_model
from headway.models.plotting.graphs.layers import layered_figure
from headway.models.plotting.looks.page import LETTER, WIDTH
from tests.models.files.test_layered_files import SHOP

MIXED = """
name = "mixed"
[parameters]
n = 6
[processors.client]
[processors.app]
servers = 2
[processors.db]
[tasks.users]
processor = "client"
population = "n"
think_time = "500 ms"
entries.use = { demand = "1 ms", calls = { page = 2, order = 0.5 }, sends = { note = 0.1 } }
[tasks.robots]
population = 2
entries.crawl = { demand = "100 ms", calls = { page = 1 } }
[tasks.web]
processor = "app"
threads = 6
entries.page = { demand = "4 ms", calls = { read = 2.5 } }
entries.order = { demand = "6 ms", calls = { pay = 1, write = 1 } }
[tasks.payment]
processor = "app"
entries.pay = { demand = "1 ms", forwards = { settle = 0.5 } }
[tasks.settlement]
processor = "app"
entries.settle = { demand = "3 ms" }
[tasks.database]
processor = "db"
threads = 3
entries.read = { demand = "1 ms" }
entries.write = { demand = "2 ms" }
[tasks.log]
processor = "db"
threads = "unlimited"
entries.note = { demand = "1 ms" }
"""


def words(figure):
    """What is written, a text each."""
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def drawn(figure):
    """Patches of tasks and frames."""
    return [p for p in figure.axes[0].patches if isinstance(p, FancyBboxPatch)]


def boxes(figure):
    """Corners of tasks and frames, each once."""
    patches = [p for p in drawn(figure) if p.get_edgecolor()[3]]
    return {(p.get_x(), p.get_y(), p.get_width(), p.get_height()) for p in patches}


@pytest.mark.parametrize("text", [SHOP, MIXED], ids=["shop", "mixed"])
def test_nothing_is_hidden(text):
    """Boxes are apart or inside each other, letters are large enough, the picture is no wider."""
    figure = layered_figure(parse_model(text))
    figure.canvas.draw()
    assert figure.get_figwidth() <= WIDTH
    for x, y, wide, high in boxes(figure):
        for left, low, width, height in boxes(figure) - {(x, y, wide, high)}:
            across = min(x + wide, left + width) - max(x, left)
            upright = min(y + high, low + height) - max(y, low)
            inside = min((wide, high), (width, height))
            assert (
                across <= 1e-9
                or upright <= 1e-9
                or (across >= inside[0] - 1e-9 and upright >= inside[1] - 1e-9)
            )
    paper = figure.bbox
    for written in figure.findobj(Text):
        if written.get_text():
            assert written.get_fontsize() >= LETTER
            ends = written.get_window_extent()
            assert ends.x0 >= paper.x0 - 1
            assert ends.x1 <= paper.x1 + 1


def test_words_and_calls_are_those_of_the_model():
    """By hand: of the requests of users 2 of 2.5 are pages, each with 2.5 reads."""
    figure = layered_figure(parse_model(SHOP))
    said = words(figure)
    assert {"users\n12 clients, think 1000 ms", "3", "2.5"} <= set(said)
    assert any(line.startswith("web\n2 threads, ") and line.endswith("taken") for line in said)
    assert any(line.startswith("cpu, 2 servers, ") and line.endswith("busy") for line in said)
    arrows = figure.findobj(FancyArrowPatch)
    assert len(arrows) == 2
    mixed = words(layered_figure(parse_model(MIXED)))
    assert {"calls per request", "messages", "passed on", "0.1", "0.5"} <= set(mixed)
    assert "threads without limit" in "".join(mixed)


def test_what_is_taken_more_is_stronger():
    """The opacity of a box is its utilisation, times that of a full one."""
    model = parse_model(SHOP)
    solution = model.solve()
    figure = layered_figure(model)
    opacities = sorted(to_rgba(p.get_facecolor())[3] for p in drawn(figure) if p.get_edgecolor()[3])
    shares = [float(solution[f"{n}.utilisation"]) for n in ("web", "database", "cpu", "disk")]
    wanted = sorted([0.0, *(0.6 * share for share in shares)])
    assert np.allclose(opacities, wanted, atol=1e-6)


def test_arrows_are_as_wide_as_there_are_calls():
    """Users make 3 calls for each request of theirs, and each of these 2.5 reads."""
    widths = sorted(
        a.get_linewidth() for a in layered_figure(parse_model(SHOP)).findobj(FancyArrowPatch)
    )
    assert np.allclose(widths, [3 / 2.5, 3.0], rtol=1e-3)


def test_without_values_there_are_no_shares():
    """Threads and calls only; and nothing is solved."""
    said = words(layered_figure(parse_model(SHOP.replace("users = 12", 'users = { unit = "1" }'))))
    assert "users\nclients, think 1000 ms" in said
    assert "web\n2 threads" in said
    assert "cpu, 2 servers" in said


def test_too_many_tasks_are_refused():
    """In one line."""
    many = "".join(
        f'[tasks.t{k}]\nprocessor = "cpu"\nentries.e{k} = {{ demand = 1 }}\n' for k in range(200)
    )
    calls = ", ".join(f"e{k} = 1" for k in range(200))
    text = f"""name = "many"
    [processors.cpu]
    [tasks.users]
    population = 1
    entries.use = {{ calls = {{ {calls} }} }}
    {many}"""
    with pytest.raises(GraphError, match="has 201 tasks with 200 calls between them") as refused:
        layered_figure(parse_model(text).at())
    assert "\n" not in str(refused.value)


def test_a_processor_without_limit_has_no_frame_about_its_only_task():
    """So no arrow to the task crosses words that say only that nothing limits it."""
    own, shared = (
        MIXED.replace('processor = "db"', f'processor = "{name}"', 1)
        + '[processors.disk]\nservers = "unlimited"\n'
        for name in ("disk", "db")
    )
    frames = [words(layered_figure(parse_model(each))) for each in (own, shared)]
    assert not [word for each in frames for word in each if "a delay" in word]
    both = own.replace('processor = "db"', 'processor = "disk"')
    assert "disk: a delay" in words(layered_figure(parse_model(both)))
