"""A judge is an instrument: what it is asked to find how far it can be trusted, and what follows from its answers.

An audit asks a judge, with the prompts and the parsing of a benchmark, about texts whose right verdict is known, then about the
same texts said otherwise, addressed to the judge, asked about again. The outcome is a card (``card.JudgeCard``).
"""
