"""Logs of nccl-tests as they are found: versions, tags, noise, and what is broken."""

from __future__ import annotations

import pytest

from clusterscope.errors import SpecError
from clusterscope.spec.nccl_log import parse_log

NEW = """\
# nccl-tests version 2.17.6
# Collective test starting: all_gather_perf
# nThread 1 nGpus 8 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 1 iters: 20
#  Rank  0 Group  0 Pid   7 on  node0 device  0 [0x1b] NVIDIA H200
#  Rank  7 Group  0 Pid   7 on  node0 device  7 [0xdb] NVIDIA H200
node0:7:7 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>
#                                                  out-of-place                       in-place
#       size   count   type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw
#        (B)                                    (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           0       0  float    none      -1     0.02    0.00    0.00      0     0.02    0.00    0.00
        2048     512  float    none      -1    25.65    0.08    0.07      0    25.10    0.08    0.07
        4096    1024  float    none      -1    26.00    0.16    0.14    N/A    25.30    0.16    0.14
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.105
"""
OLD = """\
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw
     1048576        262144   float     sum   91.50   11.46   20.06  4e-07   91.30   11.48   20.10
"""
BARE = (
    "[1,0]<stdout>:  1048576  262144  float  sum  -1  42.0  24.97  43.69  0  41.5  25.27  44.22\n"
)


def test_a_log_of_today():
    log = parse_log(NEW, "a.log")
    assert (log.collective, log.ranks) == ("all-gather", 8)
    assert [row.size_bytes for row in log.rows] == [2048, 4096]
    assert log.rows[1].seconds == pytest.approx(26e-6)
    assert log.rows[1].busbw_GBps == 0.14


def test_a_log_without_roots_and_one_without_a_head():
    (row,) = parse_log(OLD, "old").rows
    assert (row.seconds, row.algbw_GBps, row.busbw_GBps) == (pytest.approx(91.5e-6), 11.46, 20.06)
    log = parse_log(BARE, "bare")
    assert log.rows[0].busbw_GBps == 43.69
    assert (log.collective, log.ranks) == (None, None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "x.log: holds no results of nccl-tests"),
        ("# all_reduce_perf\nhello\n", "holds no results"),
        (OLD.replace("11.46", "1l.46"), "x.log: line 2: algbw '1l.46' is not a number"),
        (OLD.replace("91.50", "nan"), "line 2: time 'nan' is not a number"),
        (OLD.replace("91.50", "-1"), "line 2: time '-1' is not above 0"),
        (OLD.splitlines()[0] + "\n 1048576 262144 float sum 91.5\n", "line 2: has 5 columns"),
        ("12 monkeys\n", "line 1: is not a line of nccl-tests"),
    ],
)
def test_a_broken_log_is_told_by_file_and_line(text, says):
    with pytest.raises(SpecError) as caught:
        parse_log(text, "x.log")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
