"""Small JMT files for tests: JSIMg models of nodes in a few words, JMVA models of rows."""

EXPONENTIAL = ("Exponential", {"lambda": 1.0})


def parameter(kind, name, inner="", array=False):
    array = ' array="true"' if array else ""
    return f'<parameter{array} classPath="{kind}" name="{name}">{inner}</parameter>'


def value(name, number, kind="java.lang.Double"):
    return f'<subParameter classPath="{kind}" name="{name}"><value>{number}</value></subParameter>'


def times(law, numbers):
    inner = "".join(value(n, x) for n, x in numbers.items())
    return (
        '<subParameter classPath="jmt.ServiceTimeStrategy" name="ServiceTimeStrategy">'
        f'<subParameter classPath="jmt.engine.random.{law}" name="{law}"/>'
        f'<subParameter classPath="jmt.engine.random.{law}Par" name="distrPar">{inner}'
        "</subParameter></subParameter>"
    )


def by_class(parts):
    return "".join(f"<refClass>{c}</refClass>{text}" for c, text in parts.items())


def service(laws):
    return parameter("jmt.ServiceStrategy", "ServiceStrategy", by_class(laws), array=True)


def routing(strategies):
    """Strategies by class: a dict of probabilities, or the name of a strategy."""
    return parameter(
        "jmt.RoutingStrategy",
        "RoutingStrategy",
        by_class({c: _strategy(s) for c, s in strategies.items()}),
        array=True,
    )


def _strategy(routing):
    if isinstance(routing, str):
        return f'<subParameter classPath="jmt.{routing}" name="{routing}"/>'
    entries = "".join(
        '<subParameter classPath="jmt.EmpiricalEntry" name="EmpiricalEntry">'
        f"{value('stationName', to, 'java.lang.String')}{value('probability', p)}</subParameter>"
        for to, p in routing.items()
    )
    return (
        '<subParameter classPath="jmt.EmpiricalStrategy" name="Probabilities">'
        '<subParameter array="true" classPath="jmt.EmpiricalEntry" name="EmpiricalEntryArray">'
        f"{entries}</subParameter></subParameter>"
    )


def section(kind, inner=""):
    return f'<section className="{kind}">{inner}</section>'


def source(name, laws, routes):
    inner = section("RandomSource", service(laws)) + section("ServiceTunnel")
    return f'<node name="{name}">{inner}{section("Router", routing(routes))}</node>'


def sink(name="Sink"):
    return f'<node name="{name}">{section("JobSink")}</node>'


def queue(name, laws, routes, kind="Server", put="TailStrategy", servers=1, size=-1, more=""):
    puts = by_class(dict.fromkeys(laws, f'<subParameter classPath="jmt.{put}" name="{put}"/>'))
    drops = by_class({c: value("dropStrategy", "drop", "java.lang.String") for c in laws})
    waits = (
        parameter("java.lang.Integer", "size", f"<value>{size}</value>")
        + parameter("java.lang.String", "dropStrategies", drops, array=True)
        + parameter("jmt.FCFSstrategy", "FCFSstrategy")
        + parameter("jmt.QueuePutStrategy", "QueuePutStrategy", puts, array=True)
    )
    count = parameter("java.lang.Integer", "maxJobs", f"<value>{servers}</value>")
    serves = {"Delay": "", "ServiceTunnel": ""}.get(kind, count)
    served = "" if kind == "ServiceTunnel" else service(laws)
    inner = section("Queue", waits) + section(kind, serves + served + more)
    return f'<node name="{name}">{inner}{section("Router", routing(routes))}</node>'


def part(kind, name, inner):
    return f'<subParameter classPath="{kind}" name="{name}">{inner}</subParameter>'


def fork(name, tasks=1, simple="true", block=-1, ways="", job_class="web"):
    waits = parameter("java.lang.Integer", "size", "<value>-1</value>")
    how = part("x.OutPath", "EmpiricalEntryArray", ways)
    result = part("jmt.ProbabilitiesFork", "Branch Probabilities", how)
    inner = (
        parameter("java.lang.Integer", "jobsPerLink", f"<value>{tasks}</value>")
        + parameter("java.lang.Integer", "block", f"<value>{block}</value>")
        + parameter("java.lang.Boolean", "isSimplifiedFork", f"<value>{simple}</value>")
        + parameter("jmt.ForkStrategy", "ForkStrategy", by_class({job_class: result}), array=True)
    )
    parts = section("Queue", waits) + section("ServiceTunnel") + section("Fork", inner)
    return f'<node name="{name}">{parts}</node>'


def way(to, probability=1.0, parts=1, share=1.0):
    """A branch of a fork: how likely it is taken, and how many parts go there."""
    ends = value("stationName", to, "java.lang.String") + value("probability", probability)
    many = value("numbers", parts, "java.lang.String") + value("probability", share)
    entry = part("x.EmpiricalEntry", "EmpiricalEntry", many)
    both = part("x.EmpiricalEntry", "outUnitProbability", ends)
    both += part("x.EmpiricalEntry", "JobsPerLinkDis", entry)
    return part("x.OutPath", "OutPathEntry", both)


def join(name, strategy="NormalJoin", needed=-1, job_class="web"):
    result = part(f"jmt.{strategy}", "join", value("numRequired", needed, "java.lang.Integer"))
    inner = parameter("jmt.JoinStrategy", "JoinStrategy", by_class({job_class: result}), array=True)
    on = section("Router", routing({job_class: "RandomStrategy"}))
    return f'<node name="{name}">{section("Join", inner)}{section("ServiceTunnel")}{on}</node>'


def open_class(name, at="Source", priority=0):
    return f'<userClass name="{name}" priority="{priority}" referenceSource="{at}" type="open"/>'


def closed_class(name, customers, at):
    return (
        f'<userClass customers="{customers}" name="{name}" priority="0" '
        f'referenceSource="{at}" type="closed"/>'
    )


def links(*pairs):
    return "".join(f'<connection source="{a}" target="{b}"/>' for a, b in pairs)


def jsimg(*parts):
    return f'<?xml version="1.0"?><archive><sim>{"".join(parts)}</sim></archive>'


def jmva(classes, stations, more=""):
    return (
        f"<model><parameters><classes>{classes}</classes><stations>{stations}</stations>"
        f"</parameters>{more}</model>"
    )


def station(tag, name, times_by, visits_by, servers=1):
    served = "".join(
        f'<servicetime customerclass="{c}">{t}</servicetime>' for c, t in times_by.items()
    )
    visits = "".join(f'<visit customerclass="{c}">{v}</visit>' for c, v in visits_by.items())
    return (
        f'<{tag} name="{name}" servers="{servers}"><servicetimes>{served}</servicetimes>'
        f"<visits>{visits}</visits></{tag}>"
    )
