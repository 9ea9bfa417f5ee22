"""Variables of SPEX in layered files: parameters of the model, and what cannot be one."""

import pytest

from headway.errors import ModelFileError
from headway.models import find_model
from headway.models.structure.layered import system_of

TEXT = """
# M/M/1//N with half of the time in a second service.
$N = [1, 2, 4]
$half = $S / 2   $S = 0.5
$think = [1 : 2, 0.25]
$unused = 7
G "with variables" 1e-05 50 10 0.9 -1
P 0
  p desk i
  p cpu f %u $U
-1
T 0
  t users r use -1 desk z $think m $N %f $X
  t web n page -1 cpu %u[95] $V $W
-1
E 0
  s use 0 -1 %s1 $R
  y use page {3.0 - $S * 4} -1 %w1 $Q
  s page $half $half -1
-1
R 2
  $N
  $tp = $X
  $R - $Q
-1
"""

XML = """<lqn-model><parameters>
$N = [1, 2, 4]
$half = $S / 2
$S = 0.5
$think = [1 : 2, 0.25]
</parameters>
<processor name="desk" scheduling="inf">
  <task name="users" scheduling="ref" multiplicity="$N" think-time="$think">
    <result-observe throughput="$X"/>
    <entry name="use" type="PH1PH2"><entry-phase-activities>
      <activity name="use_1" phase="1" host-demand-mean="0">
        <synch-call dest="page" calls-mean="3.0 - $S * 4"/>
      </activity></entry-phase-activities></entry>
  </task>
</processor>
<processor name="cpu" scheduling="fcfs">
  <task name="web" scheduling="fcfs">
    <entry name="page" type="PH1PH2"><entry-phase-activities>
      <activity name="page_1" phase="1" host-demand-mean="$half"/>
      <activity name="page_2" phase="2" host-demand-mean="$half"/>
    </entry-phase-activities></entry>
  </task>
</processor>
<results-collection>$N $X</results-collection>
</lqn-model>
"""


def read(tmp_path, text):
    """The model of a file."""
    file = tmp_path / ("one.lqnx" if text.startswith("<") else "one.in")
    file.write_text(text, encoding="utf-8")
    return find_model(str(file))


@pytest.mark.parametrize("text", [TEXT, XML], ids=["text", "XML"])
def test_variables_are_parameters(tmp_path, text):
    """A list has its first value and says the others; times have units; others are left out."""
    model = read(tmp_path, text)
    found = {name: (one.value, str(one.unit), one.doc) for name, one in model.parameters.items()}
    assert found == {
        "web_threads": (1.0, found["web_threads"][1], ""),
        "N": (1.0, found["web_threads"][1], "the first of 1,2,4 in the file"),
        "think": (1.0, "s", "the first of 1:2:0.25 in the file"),
        "S": (0.5, found["web_threads"][1], ""),
    }


@pytest.mark.parametrize("text", [TEXT, XML], ids=["text", "XML"])
def test_what_follows_from_variables_follows_them(tmp_path, text):
    """Numbers of calls, and services by way of another variable."""
    system = system_of(read(tmp_path, text).at(S=0.6, N=4))[0]
    step = system.entries["use"].flow
    assert float(system.tasks["users"].threads) == 4
    assert float(step.calls["page"]) == pytest.approx(0.6, rel=1e-12)
    first = system.entries["page"].flow.parts[0]
    assert float(first.demand) == pytest.approx(0.3, rel=1e-12)


def test_variables_are_swept_as_other_parameters(tmp_path):
    """One client thinks 1 s and is served 0.25 s, but for the second phase, which it may meet."""
    model = read(tmp_path, TEXT.replace("$half $half", "$half"))
    assert model.at(N=[1, 2]).solve().throughput == pytest.approx(
        [1 / 1.25, 2 / (1 + 0.25 * (1 + 0.25 / 1.25))], rel=1e-9
    )


REFUSED = {
    "no value": ("$S = 0.5", "", "calls-mean: variable [$]S has no value; write [$]S = ..."),
    "twice": ("$unused", "$N", "variable [$]N: it has a value twice; delete one"),
    "itself": ("$S = 0.5", "$S = 2 * $half", "its value depends on itself: S -> half -> S"),
    "no number": ("$S = 0.5", "$S = [1, two]", "variable [$]S: 'two' is not a number"),
    "no formula": ("$S = 0.5", "$S = 0.5 +", "variable [$]S: '0.5 [+]': is not arithmetic"),
    "an endless range": ("1 : 2, 0.25", "1 : 2, 0", "has no value, or more than 10,000"),
    "a range of nothing": ("1 : 2, 0.25", "2 : 1, 0.25", "has no value, or more than 10,000"),
    "negative": ("$S = 0.5", "$S = 0 - 0.5", "demand of page_1 is -0.25"),
    "not finite": ("$S = 0.5", "$S = 1 / 0", "S is inf"),
    "no clients": ("[1, 2, 4]", "[0, 2]", "population of users is 0; it must be a whole number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_a_variable_is_refused(case, tmp_path):
    """In one line."""
    old, new, words = REFUSED[case]
    assert old in TEXT
    with pytest.raises(ModelFileError, match=words) as refused:
        read(tmp_path, TEXT.replace(old, new, 1))
    assert "\n" not in str(refused.value)


def test_a_program_is_refused_with_what_takes_its_place(tmp_path):
    """Of LQX."""
    with pytest.raises(ModelFileError, match="<lqx> is not supported; put what its program sets"):
        read(tmp_path, XML.replace("</lqn-model>", "<lqx>$N = 1; solve();</lqx></lqn-model>"))
