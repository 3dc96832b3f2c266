"""A stand-in for a judge's model, so that the example runs without a key: ``python:judges.py:polite``."""

import json
import re


def polite(messages: list[dict[str, str]]) -> str:
    """Five points to words that ask, thank, say please or admit a fault, three to others."""
    words = " ".join(re.findall(r"^\| (.*)$", messages[-1]["content"], re.MULTILINE)).lower()
    asks_or_thanks = re.search(r"\?|\b(thank|please|sorry|i should have)\b", words) is not None
    reason = "It asks, thanks, says please or admits a fault." if asks_or_thanks else "It is plain."
    return json.dumps({"reason": reason, "points": 5 if asks_or_thanks else 3})
