"""What `dpverify explain` says."""

from __future__ import annotations

from dpverify.verification.explanation import explanation_lines


def test_a_conjunction_has_a_line_for_each_part() -> None:
    lines = list(explanation_lines("bst14.huber-smooth"))
    assert "    [d^2/dz^2 (h/4 + z/2 + z^2/(4*h)) at z = h] == [d^2/dz^2 (z) at z = h]" in lines
    assert sum(line.endswith(" and") for line in lines) >= 5
    assert not any("Subs" in line or "Derivative" in line for line in lines)


def test_printed_formula_repair_and_reason_stand_in_this_order() -> None:
    text = "\n".join(explanation_lines("fmtt18.thm1"))
    order = [
        text.index(part) for part in ("Printed: ", "(printed, ", "Repaired: ", "Because: ", "(repaired, ")
    ]
    assert order == sorted(order)
    assert "distance^2*order/(2*T*sigma^2) <= distance*order/(2*T*sigma^2)" in text


def test_an_algorithm_names_its_fields_and_what_it_rests_on() -> None:
    text = "\n".join(explanation_lines("bst14.alg5"))
    # the fields are explained in a base class
    assert text.count("Attributes:") == 1
    assert "inner_radius: of a ball" in text
    assert "Rests on:\n  bst14.lem6.4: Lemma 6.4, " in text
    assert "(dpverify prove fmtt18.thm23)" in "\n".join(explanation_lines("fmtt18.alg1"))
