"""The older text form of layered networks: what it means, and what is refused with its line."""

from dataclasses import replace

import pytest

from headway.errors import ModelFileError
from headway.models import find_model, import_model, parse_model
from headway.models.structure.layered import system_of
from tests.models.importing.test_lqnx_written import plain

TEXT = """
# A shop with all that the text form can say.
G "a shop as text" 1e-06 50 5 0.9 -1
P 0
  p desk i
  p cpu s 0.01 m 2 R 1.5   # quantum, copies and speed
  p disk f
-1
T 0
  t users r use -1 desk z 2.5 m 6
  t robots r crawl -1 cpu 3
  t web h page find -1 cpu 2 m 4
  t files n read write -1 disk
  t log i note -1 disk
  t graph n walk -1 cpu m 2
-1
E 0
  s use 0.5 -1
  y use page 1.5 -1
  y use walk 1 -1
  s crawl 0.25 -1
  f crawl 1 -1
  y crawl find 2 -1
  s page 0.01 0.002 -1
  c page 1 0.5 -1
  Z page 0.003 0 -1
  y page read 2 0.5 -1
  z page note 0 0.25 -1
  p page 4
  s find .02 -1
  F find read 0.3 -1
  s read 4e-3 -1
  a read 0.75
  s write 0.005 -1
  s note 0.001 -1
  A walk begin
-1
A graph
  s begin 0.001
  s left 0.002
  c left 0
  y left write 1
  f left 1
  s right 0.003
  s meet 0.001
  s hit 0.004
  s miss 0.005
  Z miss 0.1
  z miss note 0.5
  s turn 0.002
  s last 0.001
  s after 0.001
:
  begin -> left & right;
  left & right (1) -> meet;
  meet -> (0.25) hit + (0.75) miss;
  hit + miss -> 2.5 * turn, last;
  last[walk] -> after
-1
"""

SAME = """
name = "same"
[processors]
desk = { servers = "unlimited" }
cpu = { servers = 2, speed = 1.5 }
disk = { discipline = "fcfs" }
[tasks.users]
processor = "desk"
population = 6
think_time = "2.5 s"
entries.use = { demand = "0.5 s", calls = { page = 1.5, walk = 1 } }
[tasks.robots]
processor = "cpu"
population = 1
priority = 3
entries.crawl = { demand = "0.25 s", calls = { find = 2 }, fixed = true }
[tasks.web]
processor = "cpu"
threads = 4
discipline = "priority"
priority = 2
[tasks.web.entries.page]
demand = "10 ms"
think_time = "3 ms"
calls = { read = 2 }
second_phase = { demand = "2 ms", scv = 0.5, calls = { read = 0.5 }, sends = { note = 0.25 } }
priority = 4
[tasks.web.entries.find]
demand = "20 ms"
forwards = { read = 0.3 }
[tasks.files]
processor = "disk"
entries.read = { demand = "4 ms", arrival_rate = 0.75 }
entries.write = { demand = "5 ms" }
[tasks.log]
processor = "disk"
threads = "unlimited"
entries.note = { demand = "1 ms" }
[tasks.graph]
processor = "cpu"
threads = 2
[tasks.graph.entries.walk]
flow = [
    "begin",
    { together = ["left", "right"], needed = 1 },
    "meet",
    { choice = [[0.25, "hit"], [0.75, "miss"]] },
    { loop = "turn", times = 2.5 },
    "last",
    "reply",
    "after",
]
[tasks.graph.entries.walk.activities]
begin = "1 ms"
left = { demand = "2 ms", scv = 0, calls = { write = 1 }, fixed = true }
right = "3 ms"
meet = "1 ms"
hit = "4 ms"
miss = { demand = "5 ms", think_time = "0.1 s", sends = { note = 0.5 } }
turn = "2 ms"
last = "1 ms"
after = "1 ms"
"""


def written(tmp_path, text, name="shop.in"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_a_text_says_what_a_model_file_says(tmp_path):
    """Processors, tasks, entries with phases, and a graph of activities."""
    model = find_model(written(tmp_path, TEXT))
    assert model.doc == "a shop as text"
    read, same = system_of(model)[0], system_of(parse_model(SAME))[0]
    assert read.processors == same.processors
    ranks = {"users": 0, "files": 0, "log": 0, "graph": 0}
    for name, task in same.tasks.items():
        assert read.tasks[name] == replace(task, priority=ranks.get(name, task.priority))
    for name, entry in same.entries.items():
        found = read.entries[name]
        assert plain(found.flow) == plain(entry.flow)
        assert found.forwards == entry.forwards
        assert found.arrival_rate == entry.arrival_rate


def test_xml_under_such_a_name_is_read_as_xml(tmp_path):
    """LQNS itself takes both under any name."""
    text = """<lqn-model><processor name="p"><task name="u" scheduling="ref">
    <entry name="e" type="PH1PH2"><entry-phase-activities>
    <activity name="a" phase="1" host-demand-mean="2"/>
    </entry-phase-activities></entry></task></processor></lqn-model>"""
    answer = import_model(written(tmp_path, text, "one.lqn"))
    assert answer.solution.throughput == pytest.approx(0.5, rel=1e-12)


SHORT = """P 1
p cpu f
-1
T 2
t users r use -1 cpu m 3
t web n page -1 cpu
-1
E 2
s use 1 -1
y use page 1 -1
s page 2 -1
-1
"""

REFUSED = {
    "section": ("E 2", "K 2", "line 8: 'K' begins no section; they are G, P, U, T, E, A, R, C"),
    "processor": ("page -1 cpu", "page -1 cp", "line 6: there is no processor 'cp'; did you mean"),
    "twice": ("t web n page", "t users n page", "line 6: task users is defined twice"),
    "order": ("p cpu f", "p cpu x", "line 2: 'x' is not an order of service; they are f, h, p"),
    "fair": ("p cpu f", "p cpu c 0.1", "scheduling 'cfs' is not supported"),
    "replicas": ("p cpu f", "p cpu f r 2", "task users: its 1 replicas cannot be dealt equally"),
    "semaphore": ("s page 2 -1", "s page 2 -1 P page", r"line 11: semaphores \(P\) are not"),
    "semaphore task": ("t web n", "t web S", "scheduling 'semaphore' is not supported"),
    "lock": ("s page 2 -1", "s page 2 -1 R page", r"read-write locks \(R\) are not supported"),
    "variable": ("s page 2", "s page $time", "variable [$]time has no value"),
    "group": ("T 2", "U 1 g one 0.5 cpu -1 -1 T 2", r"groups of processors \(U, g\) are not"),
    "number": ("s page 2", "s page two", "line 11: found 'two' where a number is needed"),
    "entry": ("y use page 1", "y user page 1", "there is no entry 'user'; did you mean use"),
    "called": ("y use page 1", "y use pages 1", "calls 'pages', which is not an entry"),
    "end": ("s page 2 -1\n-1\n", "s page 2", "the file ends inside a section"),
    "fan": (
        "t web n page -1 cpu",
        "t web n page -1 cpu r 3 I users web 2",
        "task users calls 6 replicas of web, which has 3; reduce its fan_out",
    ),
    "a variable of a flag": (
        "p cpu f",
        "p cpu f m $servers",
        "cpu: multiplicity: variable [$]servers",
    ),
    "no work": ("s page 2 -1\n", "", "entry page: it has no activities"),
    "two firsts": (
        "s page 2 -1",
        "A page one\nA page two",
        "line 12: entry page has two first activities; choose one",
    ),
    "a section that ends at once": (
        "s page 2 -1\n-1\n",
        "A page a\n-1\nA web\ns a 1\n-1\n",
        "entry page: none of its activities replies",
    ),
    "variable as a name": (
        "page 2 -1",
        "$page 2 -1",
        "line 11: found the variable '[$]page' where",
    ),
    "search": ("E 2", "C 1\n$n = $x + 1\n-1\nE 2", r"searches of SPEX \(C\) are not supported"),
    "priority": ("page -1 cpu", "page -1 cpu 1.5", "priority is 1.5; it must be a whole number"),
    "quantum": ("p cpu f", "p cpu s -0.1", "quantum is -0.1; it must be zero or more"),
    "flag": ("page -1 cpu", "page -1 cpu m", "line 6: m stands without its number"),
    "group of a task": ("use -1 cpu", "use -1 cpu g one", r"line 5: groups of processors \(U, g\)"),
    "quotation": ("P 1", 'G "one -1 P 1', "line 1: a text begins here that does not end"),
    "first of none": (
        "s page 2 -1\n-1\n",
        "A page b\n-1\nA web\ns a 1\n:\na[page]\n-1\n",
        "line 17: entry page begins with 'b', which is not an activity; there are a",
    ),
    "semicolon": (
        "s page 2 -1\n-1\n",
        "A page a\n-1\nA web\ns a 1\ns b 1\n:\na -> b\nb[page]\n-1\n",
        "line 18: found 'b' where ; is needed",
    ),
    "forwards less than nothing": (
        "s page 2 -1",
        "s page 2 -1\nF page page -0.5 -1",
        "entry page: its probability to forward to page is -0.5",
    ),
    "queue": (
        "t web n page -1 cpu",
        "t web n page -1 q 5 cpu",
        "queue-length '5' is not supported",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_supported_is_refused_with_its_line(case, tmp_path):
    """In one line."""
    old, new, words = REFUSED[case]
    assert old in SHORT
    with pytest.raises(ModelFileError, match=words) as refused:
        find_model(written(tmp_path, SHORT.replace(old, new, 1)))
    assert "\n" not in str(refused.value)


FANS = """P 2
p a f r 2
p b f
-1
T 2
t users r use -1 a r 2
{}t web n serve -1 b
-1
E 2
s use 1 -1
y use serve 1 -1
s serve 1 -1
{}-1
"""


@pytest.mark.parametrize(
    "text",
    [FANS.format("O users web 1\nI users web 2\n", ""), FANS.format("", "i use serve 2 -1\n")],
    ids=["before the task is there", "by entry, in a row of its own"],
)
def test_fans_are_read_where_they_stand(tmp_path, text):
    """M/M/1//2 with a think time as long as its service: 0.8 requests a second."""
    answer = find_model(written(tmp_path, text)).solve()
    assert answer["web.throughput"] == pytest.approx(0.8, rel=1e-9)


def test_text_may_be_named_xlqn(tmp_path):
    """As LQNS names files with expressions, which this one has not."""
    path = tmp_path / "short.XLQN"
    path.write_text(SHORT, encoding="utf-8")
    assert find_model(str(path)).solve().throughput > 0


def test_text_cut_anywhere_is_read_or_refused(tmp_path):
    """Never anything else: every twentieth place in a file with all parts."""
    said = []
    for at in range(0, len(TEXT), 20):
        try:
            find_model(written(tmp_path, TEXT[:at]))
        except ModelFileError as error:
            said.append(str(error))
    assert len(said) > 20
    assert not any("\n" in each for each in said)
