"""An autoscaler's rule: the examples of Kubernetes' documentation, and another implementation."""

import numpy as np
import pytest

from headway.errors import InvalidParameter
from headway.queueing.transient.autoscaler import Autoscaler, Rule
from headway.queueing.transient.scaled import looks_of
from tests.oracles.autoscaled import Pods


class Replicas:
    """Replicas under an autoscaler, from look to look."""

    def __init__(self, law, count, time):
        self.rule = Rule(law)
        self.pods = self.rule.begin(count, time)

    def look(self, time, metric):
        self.pods = self.rule.look(self.pods, time, metric)
        return self.pods.number

    def ready(self, time):
        return self.rule.ready(self.pods, time)


def test_twice_the_metric_doubles_and_half_of_it_halves_after_the_window():
    pods = Replicas(Autoscaler("utilisation", 0.1, maximum=100), 5, 0.0)
    assert pods.look(15.0, 0.2) == 10
    looks = [pods.look(time, 0.05) for time in np.arange(30.0, 331.0, 15.0)]
    assert looks[:-2] == [10] * 19  # 10 were asked for at 15 s, which the window forgets at 315 s
    assert looks[-2:] == [5, 5]


def test_a_metric_near_its_target_changes_nothing():
    pods = Replicas(Autoscaler("utilisation", 0.5, maximum=100), 10, 0.0)
    assert [pods.look(15.0 * k, 0.5 * ratio) for k, ratio in ((1, 1.1), (2, 0.9))] == [10, 10]
    assert pods.look(45.0, 0.5 * 1.11) == 12


def test_replicas_are_removed_by_share_and_then_by_number():
    """80 replicas to 10, by 10% or 4 each minute: 72, 64... and by 4 below 40."""
    numbers = {"remove_share": 0.1, "remove_most": 4, "limit_period": 60.0, "stabilisation": 0.0}
    law = Autoscaler("utilisation", 1.0, maximum=100, minimum=10, interval=60.0, **numbers)
    pods = Replicas(law, 80, 0.0)
    seen = [pods.look(60.0 * k, 0.01) for k in range(1, 20)]
    assert seen[:8] == [72, 64, 57, 51, 45, 40, 36, 32]
    assert seen[-1] == 10


def test_limits_hold_over_their_period_when_looks_are_more_frequent():
    law = Autoscaler("utilisation", 1.0, maximum=100, add_most=3, add_share=0.0, limit_period=60.0)
    pods = Replicas(law, 5, 0.0)
    assert [pods.look(15.0 * k, 9.0) for k in range(1, 7)] == [8, 8, 8, 8, 11, 11]


def test_replicas_that_start_count_as_idle():
    pods = Replicas(Autoscaler("utilisation", 0.5, maximum=100, start_delay=60.0), 2, 0.0)
    assert pods.look(15.0, 1.0) == 4
    assert pods.look(30.0, 1.0) == 4  # 1.0 * 2 / 4 is the target
    assert pods.ready(74.0) == (2, 0)
    assert pods.ready(75.0) == (4, 0)


def test_new_replicas_warm_up():
    law = Autoscaler("utilisation", 0.5, maximum=100, start_delay=60.0, warm_up=30.0)
    pods = Replicas(law, 1, 0.0)
    pods.look(15.0, 1.0)
    assert [pods.ready(time) for time in (74.0, 75.0, 105.0)] == [(1, 0), (1, 1), (2, 0)]


def test_another_implementation_does_the_same():
    draw = np.random.default_rng(5)
    for _ in range(100):
        window, delay, low = (int(draw.integers(*ends)) for ends in ((1, 25), (0, 6), (1, 4)))
        target, high = draw.uniform(0.3, 0.9), low + int(draw.integers(0, 40))
        numbers = {"minimum": low, "maximum": high}
        delays = {"stabilisation": 15.0 * window, "start_delay": 15.0 * delay}
        pods = Replicas(Autoscaler("utilisation", target, **numbers, **delays), low, 0.0)
        others = {"tolerance": 0.1, "window": window, "delay": delay, "target": target}
        other = Pods(low, {**numbers, **others})
        for k, metric in enumerate(draw.uniform(0, 1, 80), 1):
            assert pods.look(15.0 * k, metric) == (other.look(k, metric) or len(other.ready_from))
            assert sum(pods.ready(15.0 * k)) == other.ready(k)


def test_what_is_wanted_changes_where_the_steps_are():
    """By Kubernetes' rule and by one of one's own, between all places at which it changes."""
    own = Autoscaler("queue", 2.0, maximum=9, rule=lambda seen, _, count: seen * count / 2)
    for law in (Autoscaler("utilisation", 0.4, maximum=9), own):
        rule = Rule(law)
        for ready, count in ((1, 1), (2, 3), (3, 3), (4, 9)):
            places, wanted = rule.steps(ready, count)
            assert len(wanted) == len(places) + 1
            for ratio in np.random.default_rng(1).uniform(0, 4, 200):
                if np.abs(places - ratio).min() > 0.02:  # the grid of one's own rule
                    here = min(rule.wanted(ratio, ready, count), 9)
                    assert wanted[int(np.searchsorted(places, ratio))] == here


def test_what_a_later_look_outdoes_is_forgotten():
    """So courses that go on alike are one; the window's largest is as of all its looks."""
    pods = Replicas(Autoscaler("utilisation", 0.5, maximum=20), 6, 0.0)
    for k, metric in enumerate((0.4, 0.3, 0.4, 0.35), 1):
        pods.look(15.0 * k, metric)
    assert [number for _, number in pods.pods.wanted] == [6, 5]


def test_start_delays_that_follow_a_law_have_its_mean():
    for scv in (0.25, 1.0, 3.0):
        delays = Autoscaler("queue", 1.0, 2, start_delay=40.0, start_delay_scv=scv).delays
        assert sum(delays) / len(delays) == pytest.approx(40.0, rel=1e-9)
        assert sorted(delays) == list(delays)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"minimum": 5, "maximum": 3}, "minimum is 5, above the maximum of 3; swap them"),
        ({"maximum": 100_000}, "maximum is 100,000; headway follows 10,000 replicas at most"),
        (
            {"target": 7.0},
            "target is 7; a utilisation is at most 1, so that nothing would be added",
        ),
        ({"target": 0}, "target is 0; it must be above 0"),
        ({"start_delay": -1}, "start_delay is -1; it must be"),
        ({"interval": 0}, "interval is 0; it must be above 0"),
        ({"maximum": 2.5}, "maximum is 2.5; it must be 1 or more, and whole"),
        ({"warm_up_speed": 0}, "warm_up_speed is 0; it must be above 0"),
        ({"metric": "utilization"}, "metric is 'utilization'; did you mean utilisation"),
    ],
)
def test_bad_numbers_are_refused_in_one_line(numbers, words):
    with pytest.raises(InvalidParameter, match=words) as caught:
        Autoscaler(**{"metric": "utilisation", "target": 0.5, "maximum": 9, **numbers})
    assert "\n" not in str(caught.value)


def test_looks_without_number_are_refused_in_one_line():
    law = Autoscaler("queue", 1.0, maximum=9, interval=1e-3)
    with pytest.raises(InvalidParameter, match="interval of 1 ms gives more looks in this day"):
        looks_of(law, 0.0, 3600.0)
