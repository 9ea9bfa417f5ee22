"""PMIF files: networks of servers, workloads and requests, against laws by hand."""

import pytest

from headway.models import import_model
from headway.models.importing import pmif
from tests.support.command import headway, refusal
from tests.support.places import ROOT

CLOSED = """<?xml version="1.0"?>
<QueueingNetworkModel Name="shop"><Node>
<Server Name="Desk" Quantity="4" SchedulingPolicy="IS"/>
<Server Name="CPU" Quantity="1" SchedulingPolicy="FCFS"/>
<WorkUnitServer Name="Disk" Quantity="1" SchedulingPolicy="FCFS" ServiceTime="20" TimeUnits="Ms"/>
</Node>
<Arc FromNode="Desk" ToNode="CPU"/>
<Workload>
<ClosedWorkload WorkloadName="staff" NumberOfJobs="2" ThinkTime="0.01" TimeUnits="Min"
 ThinkDevice="Desk"><Transit To="CPU" Probability="1"/></ClosedWorkload>
</Workload><ServiceRequest>
<DemandServiceRequest WorkloadName="staff" ServerID="CPU" ServiceDemand="0.2" NumberOfVisits="4"
 TimeUnits="Sec"><Transit To="Disk" Probability="0.75"/><Transit To="Desk" Probability="0.25"/>
</DemandServiceRequest>
<WorkUnitServiceRequest WorkloadName="staff" ServerID="Disk" NumberOfVisits="3">
<Transit To="CPU" Probability="1"/></WorkUnitServiceRequest>
</ServiceRequest></QueueingNetworkModel>"""

OPEN = """<QueueingNetworkModel><Node><SourceNode Name="In"/><SinkNode Name="Out"/>
<Server Name="CPU" Quantity="1" SchedulingPolicy="PS"/></Node>
<Workload><OpenWorkload WorkloadName="web" ArrivalRate="2" ArrivesAt="In" DepartsAt="Out">
<Transit To="CPU" Probability="1"/></OpenWorkload>
<OpenWorkload WorkloadName="mail" ArrivalRate="1" ArrivesAt="In" DepartsAt="Out">
<Transit To="CPU" Probability="1"/></OpenWorkload></Workload>
<ServiceRequest><TimeServiceRequest WorkloadName="web" ServerID="CPU" ServiceTime="0.1">
<Transit To="CPU" Probability="0.5"/><Transit To="Out" Probability="0.5"/></TimeServiceRequest>
<TimeServiceRequest WorkloadName="mail" ServerID="CPU" ServiceTime="0.3">
<Transit To="Out" Probability="1"/></TimeServiceRequest>
</ServiceRequest></QueueingNetworkModel>"""


def imported_from(tmp_path, text, name="shop.pmif"):
    path = tmp_path / name
    path.write_text(text)
    return import_model(path)


@pytest.mark.parametrize("name", ["shop.pmif", "shop.xml"])
def test_demands_and_work_units_are_a_closed_network(tmp_path, name):
    """Mean value analysis by hand: demands 0.2 s and 3 of 20 ms, 0.6 s of thinking, 2 jobs."""
    answer = imported_from(tmp_path, CLOSED, name).solution
    alone = 0.2 + 0.06 + 0.6
    times = [demand * (1 + demand / alone) for demand in (0.2, 0.06)]
    assert not answer.approximation
    assert answer.throughput == pytest.approx(2 / (0.6 + sum(times)), rel=1e-12)
    assert answer["CPU.response_time"] == pytest.approx(times[0] / 4, rel=1e-12)
    assert answer["Disk.throughput"] == pytest.approx(3 * answer.throughput, rel=1e-12)


def test_open_workloads_share_a_server(tmp_path):
    """2 /s twice for 0.1 s and 1 /s for 0.3 s: 70% busy; each visit takes S / 0.3."""
    answer = imported_from(tmp_path, OPEN)
    assert answer.solution["CPU.utilisation"] == pytest.approx(0.7, rel=1e-12)
    assert answer.solution["class web.response_time"] == pytest.approx(0.2 / 0.3, rel=1e-12)
    assert answer.solution["class mail.response_time"] == pytest.approx(0.3 / 0.3, rel=1e-12)
    assert answer.notes == ("times without units are read as seconds",)


def test_a_pmif_file_becomes_a_model_file(tmp_path):
    path, out = tmp_path / "shop.pmif", tmp_path / "shop.toml"
    path.write_text(CLOSED)
    assert headway("import", path, "--out", out).code == 0
    solved = [headway("solve", each, "--json").out for each in (out, path)]
    assert solved[0] == solved[1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'SchedulingPolicy="FCFS"/>',
            'SchedulingPolicy="LCFS"/>',
            "CPU: SchedulingPolicy 'LCFS' is not supported",
        ),
        ("<Arc ", "<ForkNode ", "'ForkNode' is not supported"),
        ('Quantity="4"', 'Quantity="4" Speed="2"', "'Speed' of a 'Server' is not supported"),
        ('Quantity="1"', 'Quantity="0"', "CPU: Quantity"),
        ('TimeUnits="Min"', 'TimeUnits="Ns"', "unknown TimeUnits 'ns' of a ClosedWorkload"),
        ('TimeUnits="Min"', "", "a ClosedWorkload has no TimeUnits but other elements have"),
        ('Visits="4"', 'Visits="5"', "CPU: staff: NumberOfVisits is '5', but the transits give 4"),
        ('"0.75"', '"0.5"', "staff from CPU: the probabilities of its transits sum to 0.75"),
        ('To="Disk"', 'To="Tape"', "staff goes from CPU to 'Tape', which does not exist"),
        (
            'ThinkDevice="Desk"',
            'ThinkDevice="Chair"',
            "workload staff: ThinkDevice is 'Chair', which is not a server",
        ),
        (
            'ServerID="Disk"',
            'ServerID="CPU"',
            "WorkUnitServiceRequest: 'CPU' and 'staff' appear together twice",
        ),
        (
            'ServerID="Disk"',
            'ServerID="Tape"',
            "WorkUnitServiceRequest: 'Tape' and 'staff' do not both exist",
        ),
        ('Name="Disk"', 'Name="CPU"', "nodes 'CPU' appears twice"),
        ('NumberOfJobs="2"', 'NumberOfJobs="some"', "NumberOfJobs is 'some'"),
        ('ServiceDemand="0.2"', 'ServiceDemand="-1"', "ServiceDemand is '-1'"),
        ('<?xml version="1.0"?>', '<!DOCTYPE q [<!ENTITY a "b">]>', "document type"),
    ],
)
def test_what_a_pmif_file_lacks_is_said(tmp_path, old, new, message):
    path = tmp_path / "shop.pmif"
    assert old in CLOSED
    path.write_text(CLOSED.replace(old, new, 1))
    assert message in refusal("solve", path)


def test_work_units_are_asked_of_their_servers(tmp_path):
    path = tmp_path / "shop.pmif"
    spoilt = CLOSED.replace("WorkUnitServer ", "Server ").replace(
        ' ServiceTime="20" TimeUnits="Ms"', ""
    )
    path.write_text(spoilt)
    assert "Disk: staff: a WorkUnitServiceRequest does not go with a Server" in refusal(
        "solve", path
    )
    path.write_text("<QueueingNetworkModel/>")
    assert "has no servers" in refusal("solve", path)


def test_the_reference_names_what_is_read():
    page = (ROOT / "docs/reference/jmt-files.md").read_text()
    named = {*pmif._KNOWN, *pmif._POLICIES, *(unit.capitalize() for unit in pmif._UNITS)}
    assert {name for name in named if f"`{name}`" not in page} == set()
