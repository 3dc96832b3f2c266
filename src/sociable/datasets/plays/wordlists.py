"""Closed sets of words that the readers of plays know."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, parted by white space."""
    return frozenset(text.split())


TITLES = words(
    """
    mr mrs ms miss dr doctor sir lady lord ld st rev reverend hon capt captain maj major col colonel gen general sgt sergeant
    prof professor father brother sister king queen prince princess duke duchess count countess earl friar madame mme mlle
    monsieur m herr frau don dona old young canon aunt uncle justice judge
    """
)
"""Before a name, and nobody's name alone."""

ABBREVIATED_TITLES = words("mr mrs ms dr ld st rev hon capt maj col gen sgt prof m mme mlle jr sr esq")
"""Their stop is part of them."""

ARTICLES = words("a an the another his her their our")

SMALL = words("of the and a an to de von van with in at from outside as on la le du & or voice generally together")
"""What stands in a name without a capital."""

NO_NAMES = words(
    """
    act scene prologue epilogue curtain enter exit exeunt re-enter time place note chapter title author finis end contents
    preface introduction setting synopsis int ext cut fade dissolve to fx sfx
    """
)
"""A line that begins so is no heading of a speech."""

SOUNDS = words(
    "flourish sennet tucket alarum alarums thunder knock knocke knocking sings singing sing music musicke within and a"
)
"""A line of nothing else is a direction; "Music Master" is somebody."""

_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
ORDINALS = {
    **{str(number): word for number, word in enumerate(_ORDINALS, 1)},
    **dict(zip(["i", "ii", "iii", "iv", "v", "vi"], _ORDINALS, strict=False)),
}
"""Which of several who share a name, by the figures that stand for it."""

PEERS, PEERESSES = words("viscount earl marquis marquess baron"), words("viscountess countess marchioness baroness")
"""Whom everybody calls Lord or Lady."""

LADIES = PEERESSES | words("lady mrs miss ms queen princess duchess madame mme mlle frau dona")
"""Titles that their bearers are not named without, beside a man of the name."""

INTERJECTIONS = words(
    """
    yes no oh ah well good come why what how who where now then there here so and but or if for nay ay aye true never always
    please thanks sir madam farewell adieu goodbye indeed perhaps peace alas silence hush amen welcome o i my you he she it
    we they this that these those not nothing yet still enough stop wait look hark hello right quite exactly really
    """
)
"""Sentences of one word, which look like a name with a stop."""
