"""Actions of the jobs screen and of the curves."""

from __future__ import annotations

from clusterscope.tui.action import Action

JOBS: tuple[Action, ...] = (
    Action(
        "change(1)",
        ("plus", "equals_sign"),
        "more",
        "next value of the field of the plan under the cursor; u takes it back",
        "jobs",
    ),
    Action("change(-1)", ("minus",), "less", "the value before; u takes it back", "jobs"),
    Action("plan", ("slash",), "plan", "type another plan, as tp=4 pp=8", "jobs"),
    Action(
        "page", ("m",), "page", "next page: phases, groups, places, map, memory, figures", "jobs"
    ),
    Action("group(1)", ("n",), "group", "places, or map, of the next group of a cut", "jobs"),
    Action("group(-1)", ("N",), "", "places of the group before", "jobs"),
    Action("around", ("z",), "zoom", "chart of the phase under the cursor, or of all", "jobs"),
    Action("job", ("J",), "job", "next job", "jobs"),
)

CURVE: tuple[Action, ...] = (
    Action("algorithm(1)", ("plus", "equals_sign"), "algorithm", "next algorithm", "curves"),
    Action("algorithm(-1)", ("minus",), "", "the algorithm before", "curves"),
    Action("collective(1)", ("m",), "collective", "next collective", "curves"),
    Action("collective(-1)", ("M",), "", "the collective before", "curves"),
    Action("overlay", ("slash",), "log", "type the file of a log of nccl-tests", "curves"),
    Action("job", ("J",), "job", "ranks and collective of the next job", "curves"),
)
