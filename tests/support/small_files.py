"""A small model and a small curve, to be spoilt."""

from headway.models import data_path

RAID = data_path("network_sensitivity/table_a_5_raid_performance.csv")
SINGLE = ("server-single", "--data", RAID, "--free", "service_time")
HEAD = "throughput_ops_s,response_ms\n"
REST = "100,2\n200,2.5\n300,3\n400,4\n500,5\n"
MODEL = """
name = {name}
doc = {doc}
[parameters]
service_time = "5 ms"
arrival_rate = "100 /s"
[stations.cpu]
kind = "MM1"
service_time = "service_time"
[presets.{preset}]
service_time = "2 ms"
"""


def model(name='"one"', doc='"a model"', preset="fast"):
    return MODEL.format(name=name, doc=doc, preset=preset)
