"""The timeline: any history equals a straight run of its log."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clusterscope.engine import replay
from clusterscope.engine.events import Event
from clusterscope.engine.scenario import with_transport
from clusterscope.engine.timeline import Timeline
from tests.small import job, scenario

SCENARIO = scenario(jobs=job("permutation"), transport={"name": "rocev2", "reroute_s": 0.015})
TARGETS = ("leaf0:u1", "spine1", "node2", "node5/nic1", "node1/gpu0", "leaf3")

moves = st.lists(
    st.one_of(
        st.tuples(
            st.just("inject"),
            st.sampled_from(("fail", "restore")),
            st.sampled_from(TARGETS),
            st.integers(0, 6),
        ),
        st.tuples(
            st.just("inject all"),
            st.sampled_from(("fail", "restore")),
            st.lists(st.tuples(st.sampled_from(TARGETS), st.integers(0, 6)), max_size=4),
        ),
        st.tuples(st.just("remove"), st.integers(0, 5)),
        st.tuples(
            st.just("follow"),
            st.lists(st.tuples(st.sampled_from(TARGETS), st.integers(0, 6)), max_size=3),
        ),
        st.tuples(st.just("undo")),
        st.tuples(st.just("redo")),
        st.tuples(st.just("seek"), st.integers(0, 8)),
    ),
    max_size=12,
)


def named(kind, targets):
    return [Event.named(SCENARIO.names, kind, name, step=step) for name, step in targets]


def make(timeline, move) -> None:
    match move:
        case ("inject", kind, name, step):
            timeline.inject(*named(kind, [(name, step)]))
        case ("inject all", kind, targets):
            timeline.inject_all(named(kind, targets))
        case ("remove", place):
            if place < len(timeline.log):
                assert timeline.remove(timeline.log[place])
        case ("follow", targets):
            timeline.follow(named("fail", targets))
        case ("undo",):
            timeline.undo()
        case ("redo",):
            timeline.redo()
        case ("seek", step):
            timeline.at(step)


def play(history) -> Timeline:
    timeline = Timeline(SCENARIO)
    for move in history:
        make(timeline, move)
    return timeline


@given(moves)
def test_any_editing_history_equals_a_straight_run_of_its_log(history):
    edited = play(history)
    straight = Timeline(SCENARIO, edited.log)
    assert [edited.at(k).digest() for k in (8, 0, 4)] == [
        straight.at(k).digest() for k in (8, 0, 4)
    ]


@given(moves)
def test_undo_goes_back_through_every_log_there_was_and_redo_forth_again(history):
    timeline = Timeline(SCENARIO)
    logs = [timeline.log]
    for move in history:
        if move[0] not in ("undo", "redo", "seek"):
            make(timeline, move)
            logs += [timeline.log] if timeline.log != logs[-1] else []
    forth = [timeline.log]
    while timeline.can_undo:
        timeline.undo()
        forth.append(timeline.log)
    assert forth == logs[::-1]
    for log in logs[1:]:
        assert timeline.redo()
        assert timeline.log == log
    assert not timeline.can_redo


def test_many_events_are_one_step_of_undo():
    timeline = Timeline(SCENARIO)
    timeline.inject_all(named("fail", [("spine1", 1), ("node2", 0), ("leaf3", 4)]))
    timeline.inject_all([])
    assert len(timeline.log) == 3
    assert timeline.undo().name == "leaf3"
    assert timeline.log == ()
    assert timeline.redo().name == "leaf3"
    assert len(timeline.log) == 3


def test_any_event_can_be_removed_and_undo_puts_it_back_in_its_place():
    timeline = Timeline(SCENARIO, named("fail", [("spine1", 1), ("node2", 0), ("leaf3", 4)]))
    before = timeline.at(4).digest()
    assert timeline.remove(timeline.log[0])
    assert [event.name for event in timeline.log] == ["node2", "leaf3"]
    assert timeline.at(4).digest() != before
    assert not timeline.remove(*named("fail", [("spine1", 1)]))
    assert timeline.undo().name == "spine1"
    assert [event.name for event in timeline.log] == ["spine1", "node2", "leaf3"]
    assert timeline.at(4).digest() == before


def test_the_history_moves_to_another_transport():
    timeline = Timeline(SCENARIO)
    timeline.inject_all(named("fail", [("spine1", 1), ("node2", 0)]))
    other = timeline.under(with_transport(SCENARIO, "spectrum-x"))
    assert other.log == timeline.log
    other.undo()
    assert other.log == ()
    assert len(timeline.log) == 2


def test_undo_and_redo_walk_the_log():
    timeline = play([("inject", "fail", "spine1", 1), ("inject", "fail", "node2", 3)])
    assert timeline.undo().name == "node2"
    assert timeline.undo().name == "spine1"
    assert timeline.undo() is None
    assert timeline.redo().name == "spine1"
    timeline.inject(Event.named(SCENARIO.names, "fail", "leaf3", step=0))
    assert not timeline.can_redo
    assert [e.name for e in timeline.log] == ["spine1", "leaf3"]


def test_what_if_leaves_the_timeline_alone():
    timeline = Timeline(SCENARIO)
    before = timeline.at(3).digest()
    other = timeline.what_if(Event.named(SCENARIO.names, "fail", "spine1", step=3))
    assert not other.health.healthy
    assert timeline.at(3).digest() == before
    assert timeline.log == ()


def test_frames_far_apart_are_recomputed_when_they_were_dropped(monkeypatch):
    monkeypatch.setattr("clusterscope.engine.timeline._BUDGET_BYTES", 1)
    small = Timeline(SCENARIO)
    early = small.at(5).digest()
    small.at(90)
    assert small.at(5).digest() == early


def test_a_replay_file_gives_the_same_frames_and_tells_when_it_does_not(tmp_path):
    timeline = play([("inject", "fail", "spine1", 1)])
    file = tmp_path / "run.toml"
    file.write_text(replay.dumps(timeline, 4))
    assert replay.verify(file) == ()
    again = replay.read(file).timeline()
    assert again.at(4).digest() == timeline.at(4).digest()
    file.write_text(file.read_text().replace('"spine1"', '"spine0"'))
    assert replay.verify(file) == (4,)
