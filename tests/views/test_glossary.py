"""The words: all there, all explained, all pointing at words that are there."""

from __future__ import annotations

import pytest

from clusterscope.errors import UnknownNameError
from clusterscope.views.glossary import TERMS, find, matching

WANTED = """node, GPU, NIC, rank, leaf, spine, core, radix, SU, pod, rail, plane, cable, link,
trunk, scale-up domain, NVLink, scale-out, LFT, ECMP, entropy, collision, polarization, spray,
adaptive
routing, flowlet, QP, flow, path, route, algbw, busbw, step, iteration, phase, frame, event,
timeline, replay, blast radius, PFC, DCQCN, credits, go-back-N, reordering, SHARP, incast,
bisection, taper, oversubscription, MFU, goodput, ETTR, estimate mark, error band, tor, server"""


def test_every_word_that_shows_up_is_explained():
    for word in " ".join(WANTED.split()).split(", "):
        term = find(word)
        assert term.text
        assert term.where


def test_related_words_are_there_and_not_the_word_itself():
    names = {term.name for term in TERMS}
    assert len(names) == len(TERMS)
    for term in TERMS:
        assert set(term.related) <= names - {term.name}, term.name
        assert 1 <= len(term.related) <= 9, term.name  # one digit each


def test_words_are_in_order_and_explained_in_one_or_two_sentences():
    assert [t.name for t in TERMS] == sorted((t.name for t in TERMS), key=str.casefold)
    for term in TERMS:
        assert term.text.count(". ") <= 1, term.name
        assert term.text.endswith(".")
        assert term.where.endswith(".")


def test_a_wrong_word_names_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean 'spine'"):
        find("spin")


def test_names_come_before_words_that_only_mention():
    found = [term.name for term in matching("spine")]
    assert found[0] == "spine"
    assert "leaf" in found
    assert matching("no such thing") == ()
