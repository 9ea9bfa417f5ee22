"""An autoscaler's rule: the examples of Kubernetes' documentation, and another implementation."""

import numpy as np
import pytest

from headway.errors import InvalidParameter
from headway.queueing.transient.autoscaler import Autoscaler, Replicas
from tests.oracles.autoscaled import Pods


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


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"minimum": 5, "maximum": 3}, "minimum is 5, above the maximum of 3; swap them"),
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
