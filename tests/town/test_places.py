"""Places as people and models write them; most of the phrases were written before the finder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sociable.town.map import Address, Tile, TownMap
from sociable.town.places import LONGEST, PlaceFinder
from sociable.town.town_file import load_map

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_shared = pytest.mark.skipif(not (SHARED / "smallville").is_dir(), reason="needs ../shared/data/smallville")

STUDENT, FAMILY, TENANT = (
    Address("Heron House", "room 3"),
    Address("Chandler's Row 4", "bedroom"),
    Address("Quay Flats", "flat 3 bedroom"),
)
"""Homes."""
SQUARE, PUB_KITCHEN = Address("Market Square", "fountain"), Address("The Lantern", "kitchen")
ABIGAIL = Address("artist's co-living space", "Abigail Chen's room")

# fmt: off

# By place what means it, for a student who is in the square.
IN_TOWN: Mapping[str, Sequence[str]] = {
    "Kettle & Tern: tea room": ["Kettle & Tern: tea room", "kettle & tern: TEA ROOM", "Kettle & Tern:tea room", "tearoom",
        "the café's tea room", "Tea Room", "KETTLE AND TERN: TEA ROOM"],
    "Harbour College: library": ["Harbour College: library", "Harbour College, library", "library, Harbour College",
        "Harbour College - library", "Harbour College (library)", "the library (Harbour College)", "college library",
        "the library", "library at Harbour College", "the library of the college", "Harbor College library", "the libary",
        "Town Library", "library: Harbour College"],
    "Harbour College: lecture hall": ["Harbour College > lecture hall", "the college's lecture hall", "lecture theatre"],
    "The Lantern: public bar": ["Tern Harbour: The Lantern: public bar", "The Lantern - public bar",
        "public bar of the Lantern"],
    "The Lantern": ["The Lantern, Tern Harbour", "the Lantern", "Lantern", "lantern pub", "The Lantern (pub)",
        "the local pub", "pub", "the pub on the quay", "the pub (with friends)", "the bar at The Lantern", "The Lanturn"],
    "Kettle & Tern: tea room: counter": ["Kettle & Tern: tea room: counter"],
    "Mill Meadow: bandstand": ["@ Mill Meadow: bandstand.", "bandstand in the park", "the bandstand", "band stand"],
    "Kettle & Tern": ["Kettle and Tern", "Kettle & Tern", "the Kettle & Tern", "Kettle and Tern café",
        "at Kettle and Tern cafe", "the café", "cafe", "coffee shop", "Kettle & Tern: seating area", "Ketle & Tern",
        "a table at the café", "Kettle Café", "the tea house", "Kettle & Tern (corner table)", '"Kettle & Tern"',
        "**Kettle & Tern**", "Kettle&Tern", "kettle_and_tern", "Kettle and Turn"],
    "Okafor's Grocery": ["Okafors grocery store", "Okafor's", "Okafor’s Grocery", "Okafor Grocery", "the grocery store",
        "the grocer's", "supermarket", "Okafors", "grocery shop"],
    "Bolt & Brace": ["Bolt and Brace", "Bolt & Brace hardware store", "the hardware store", "ironmonger", "Bolt n Brace"],
    "Salt & Rye": ["Salt and Rye bakery", "the bakery", "the bakery next to the café", "Rye Bakery"],
    "Turnpage Books": ["Turnpage", "Turnpage Bookshop", "bookstore", "the book shop", "Turnpage Boooks", "the bookshop",
        "Turnpage Books shop"],
    "The Guildhall": ["Guildhall", "Guild Hall", "the Guidhall"],
    "Boathouse": ["the boat house", "the rowing club", "the boathouse by the river", "near the Boathouse"],
    "The Ropewalk": ["Ropewalk", "the studio"],
    "Ropewalk Lofts": ["the Ropewalk Lofts", "the lofts"],
    "Chandler's Row 3": ["Chandlers Row 3", "3 Chandler's Row", "number 3, Chandler's Row", "Chandler's Row three"],
    "Market Square": ["Market Square", "the market square in town", "town square", "the market", "the square",
        "the market stalls", "Market Sqaure", "market"],
    "Tide Gym": ["Tide Gym", "the gym", "the gymnasium"],
    "Quay Flats": ["Quay Flats", "Quay Flat"],
    "Heron House": ["Heron House", "the dormitory", "dorm"],
    "Quay Pharmacy": ["the pharmacy", "chemist's", "Quay Pharamcy", "drug store"],
    "Post Office": ["the post office"],
    "Ferry Clinic": ["the clinic", "doctor's surgery", "Ferry Clinc"],
    "Mill Meadow": ["the park", "Mill Medow", "Mill Meadow park", "a bench in the park", "city park"],
    "Harbour College": ["the college", "Habour College", "the college campus", "Harbour College:", "Harbour Colledge"],
    "The Guildhall: hall": ["the community hall", "the hall", "The Guildhall, main hall", "town hall"],
    "Harbour College: laboratory": ["the lab", "Harbour College lab", "the laboratory at college"],
    "Harbour College: classroom": ["classroom", "college classroom"],
    "Mill Meadow: pond": ["the pond in Mill Meadow", "by the pond"],
    "Market Square: fountain": ["fountain in the market square", "here", "right here", "where I am", "market fountain",
        "Market Square (fountain)"],
    "The Guildhall: kitchen": ["Guildhall kitchen", "the kitchen of the Guildhall", "Guildhall, Kitchen"],
    "The Guildhall: meeting room": ["meeting room", "the Guildhall's meeting room", "Guildhall (meeting room)"],
    "The Lantern: kitchen": ["the pub kitchen"],
    "The Lantern: snug": ["the snug", "Lantern snug"],
    "The Ropewalk: studio 2": ["studio 2", "studio two at the Ropewalk"],
    "The Ropewalk: gallery": ["the gallery", "Ropewalk gallery", "gallery of the Ropewalk"],
    "Salt & Rye: bakehouse": ["the bakehouse"],
    "Okafor's Grocery: shop floor": ["Okafor's shop floor"],
    "Okafor's Grocery: stock room": ["stock room", "Okafor's Grocery: stock room"],
    "Ferry Clinic: waiting room": ["the clinic's waiting room"],
    "Ferry Clinic: consulting room": ["consultation room"],
    "Sports Ground: pitch": ["football pitch"],
    "Quay Flats: flat 2 living room": ["flat 2", "Quay Flats flat 2"],
    "Boathouse: boat store": ["boat store"],
    "Boathouse: clubroom": ["clubroom of the boathouse", "Boathouse clubroom", "Boat House clubroom"],
    "Mill Meadow: pond: bench": ["bench by the pond"],
    "Heron House: room 3": ["home", "at home", "my room", "my room at Heron House", "bedroom", "my dorm room",
        "home (Heron House: room 3)", "my bedroom", "my own room", "her room", "back home", "home, Heron House", "my place",
        "their house"],
    "Heron House: room 3: bed": ["in bed"],
    "Heron House: room 3: desk": ["my desk"],
    "Heron House: kitchen": ["the kitchen", "kitchen at home", "Heron House kitchen", "the dorm kitchen"],
    "Heron House: common room": ["common room", "the lounge", "Heron House, common room", "dormitory common room"],
    "Heron House: laundry": ["Heron House laundry", "the laundry room"],
    "Mill Meadow: lawn": ["Mill Meadow lawn", "the lawn at Mill Meadow", "the lawn in the park"],
    "Kettle & Tern: kitchen": ["Kettle & Tern kitchen"],
    "Kettle & Tern: tea room: table by the window": ["table by the window, Kettle & Tern"],
    "Sports Ground": ["Sports Ground", "the sports ground", "sports field"],
    "Sports Ground: touchline": ["the touchline"],
    "Tide Gym: training room": ["Tide Gym training room"],
    "Tide Gym: mat room": ["gym mat room"],
    "Quay Pharmacy: shop: pharmacy counter": ["Quay Pharmacy counter"],
    "Quay Pharmacy: dispensary": ["pharmacy dispensary"],
    "Turnpage Books: shop floor": ["Turnpage Books: shop floor"],
    "Post Office: counter hall: post counter": ["post office counter"],
    "Post Office: counter hall": ["Post Office: counter hall"],
    "Salt & Rye: shop": ["Salt & Rye: shop", "baker's shop"],
    "Harbour College: library: reading table": ["Harbour College library reading table"],
    "Harbour College: corridor": ["college corridor"],
    "Heron House: room 5": ["room 5"],
    "Heron House: bathroom west": ["the bathroom"],
    "Heron House: bathroom east": ["bathroom east"],
    "The Ropewalk: studio 1": ["studio 1, The Ropewalk"],
    "The Ropewalk: studio 3": ["Ropewalk Studio 3"],
    "Ropewalk Lofts: shared kitchen": ["Ropewalk Lofts shared kitchen"],
    "Ropewalk Lofts: bedroom 2": ["loft bedroom 2"],
    "Quay Flats: flat 1 living room": ["Flat 1, Quay Flats"],
    "Chandler's Row 1: living room": ["Chandler's Row 1: living room", "living room of Chandler's Row 1"],
    "Chandler's Row 2": ["Chandlers Row No. 2"],
    "Chandler's Row 5": ["Chandler Row 5"],
    "Market Square: north stalls": ["the north stalls"],
    "Market Square: south stalls: fish stall": ["fish stall"],
}

NOWHERE = [
    "the cinema", "Central Station", "Hobbs Cafe", "the harbour", "the quay", "the ferry", "the ferry terminal",
    "Harbour Café", "Harbour Hotel", "the church", "the church by the river", "the mall", "the beach", "the shop",
    "the store", "Chandler's Row", "Chandler's Row 7", "room 9", "studio 4", "flat 5", "the house next door",
    "the house next to the bakery", "Obiora's house", "library in Paris", "the café in Mill Meadow",
    "Harbour College: swimming pool", "Market Square and Mill Meadow", "the café or the pub", "outside", "on the street",
    "somewhere quiet", "around town", "Tern Harbour", "online", "N/A", "none", "", "...", "work", "the office",
    "Salt & Pepper", "The Red Lantern", "the train station café", "village school", "the hospital", "Main Street",
    "the mill", "the bank", "North Market Hall", "the barn", "the Lantern Inn", "Ferry Clinic waiting area",
    "bakery kitchen", "the jetty", "the river", "the old mill by the river", "reading room of the library",
    "college canteen", "student union", "Harbour University", "Heron House room 12", "the art gallery", "Chandler's Road 5",
    "Farmers' Market", "Fish Market", "Okonkwo's Grocery", "Wang's Grocery", "the Harbour Pub", "Harbour Inn", "the Tern",
    "the Red Lion", "restaurant", "the hotel", "police station", "the train station", "the bus stop", "public library",
    "the community garden", "rooftop", "balcony", "car", "video call", "via phone", "everywhere", "wherever she is", "any",
    "TBD", "unknown", "Kettle & Tern or The Lantern", "Kettle & Tern, then home", "from home to the college",
    "between the café and the bookshop", "behind the Guildhall", "outside the Guildhall", "in front of the post office",
    "the street outside Kettle & Tern", "Hobbs Cafe: cafe", "Oak Hill College", "Johnson Park", "The Rose and Crown Pub",
    "Turnpike Books", "home office", "the shed", "garden",
]

# For a family in Chandler's Row, in the pub's kitchen.
IN_A_ROW: Mapping[str, Sequence[str]] = {
    "Chandler's Row 4: bedroom": ["home", "our house"],
    "Chandler's Row 4: kitchen": ["my kitchen", "kitchen"],
    "Chandler's Row 4: living room": ["the living room", "sitting room at home"],
    "Chandler's Row 4: bedroom: double bed": ["my bed"],
    "Chandler's Row 4: living room: sofa": ["the sofa"],
    "Chandler's Row 4: bathroom": ["bathroom"],
    "Chandler's Row 4": ["Chandler's Row 4"],
    "The Lantern: kitchen": ["here"],
}

# For a tenant of Quay Flats, in the street.
IN_A_FLAT: Mapping[str, Sequence[str]] = {
    "Quay Flats: flat 3 bedroom": ["my flat", "home", "her apartment"],
    "Quay Flats: flat 3 living room": ["living room", "the kitchen"],
    "Quay Flats: flat 3 bathroom": ["the bathroom"],
    "Quay Flats: flat 4 living room": ["flat 4 living room"],
}

# For Abigail, of Smallville.
IN_SMALLVILLE: Mapping[str, Sequence[str]] = {
    "Hobbs Cafe: cafe": ["the Ville:Hobbs Cafe:cafe", "<the Ville:Hobbs Cafe:cafe>", "the cafe"],
    "Hobbs Cafe": ["{Hobbs Cafe}", "Hobbs Coffee", "Hobbs Caffe", "Hobs Cafe"],
    "The Rose and Crown Pub": ["The Rose and Crown", "Rose & Crown pub"],
    "The Rose and Crown Pub: pub": ["the pub"],
    "The Willows Market and Pharmacy": ["the pharmacy", "Willows Market"],
    "Harvey Oak Supply Store: supply store": ["the supply store"],
    "Harvey Oak Supply Store": ["Harvey Oak"],
    "Johnson Park": ["Johnson Park"],
    "Johnson Park: park": ["the park"],
    "Oak Hill College": ["the college"],
    "Oak Hill College: library": ["Oak Hill library", "the library at Oak Hill College"],
    "Dorm for Oak Hill College": ["the dorm"],
    "Dorm for Oak Hill College: Klaus Mueller's room": ["Klaus's room", "Klaus Mueller's room"],
    "Lin family's house": ["Lin family house", "Lin's bedroom"],
    "Lin family's house: kitchen": ["the Lin family's kitchen"],
    "Adam Smith's house": ["Adam Smith's house", "Adam's house"],
    "Isabella Rodriguez's apartment": ["Isabella's apartment"],
    "artist's co-living space": ["artists' co-living space"],
    "artist's co-living space: common room": ["common room"],
    "artist's co-living space: kitchen": ["kitchen"],
    "artist's co-living space: Abigail Chen's bathroom": ["bathroom"],
    "artist's co-living space: Abigail Chen's room": ["home"],
}

NOT_IN_SMALLVILLE = [
    "Kettle & Tern", "the museum", "the store room",
]

NOBODY_BUILT = [
    "museum", "airport", "art museum", "bowling alley", "bus station", "car park", "concert hall", "cricket ground",
    "customs house", "dance studio", "dental clinic", "department store", "duck pond", "fire station", "fish market",
    "football stadium", "golf course", "guest house", "hair salon", "haunted house", "hospital kitchen", "ice rink", "jail",
    "lighthouse", "marina", "market hall", "meeting hall", "movie theater", "music room", "nightclub", "park café",
    "petrol station", "playground", "police station", "post box", "reading room", "recording studio", "rooftop bar",
    "rope bridge", "school library", "shopping centre", "skate park", "staff kitchen", "stadium", "station bar", "student bar",
    "swimming pool", "tennis court", "theatre", "toy shop", "train station", "university", "village school", "warehouse",
    "wine bar", "workshop", "yoga studio", "youth club", "zoo",
]
OTHER_TOWNS = ["Golden", "Riverside", "Joe's", "Red Lion", "Central", "Hobson's", "Turner", "Quayside", "Rope", "Salty", "Tidal"]
KINDS = ["Café", "Pub", "Park", "College", "Library", "Gym", "Pharmacy", "Books", "Grocery", "Clinic", "Square", "Hall", "Kitchen",
         "Studio", "Classroom", "House", "Flats", "Boathouse", "Hardware Store", "Row 3", "Post Office", "Bar", "Room 3"]

# fmt: on


@cache
def town_map(town: str = "") -> TownMap:
    bundled = Path(str(resources.files("sociable.benchmarks.stss").joinpath("data", "town.json")))
    return load_map(SHARED / town if town else bundled)


@cache
def finder(town: str = "") -> PlaceFinder:
    return PlaceFinder(town_map(town))


def cases(table: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(text, place) for place, texts in table.items() for text in texts]


@pytest.mark.parametrize(("text", "place"), cases(IN_TOWN))
def test_a_place_in_town(text: str, place: str) -> None:
    assert str(finder().find(text, STUDENT, SQUARE)) == place


@pytest.mark.parametrize("text", NOWHERE)
def test_no_place_in_town(text: str) -> None:
    assert finder().find(text, STUDENT, SQUARE) is None


@pytest.mark.parametrize(("text", "place"), cases(IN_A_ROW))
def test_ones_own_rooms_come_before_those_around(text: str, place: str) -> None:
    assert str(finder().find(text, FAMILY, PUB_KITCHEN)) == place


@pytest.mark.parametrize(("text", "place"), cases(IN_A_FLAT))
def test_ones_own_flat_comes_before_the_neighbours(text: str, place: str) -> None:
    assert str(finder().find(text, TENANT)) == place


def test_in_the_street_here_is_no_address() -> None:
    assert finder().find("here", TENANT, None) is None


def test_what_fits_several_places_is_the_one_around() -> None:
    assert finder().find("shop floor", STUDENT, None) is None
    books = Address("Turnpage Books", "shop floor")
    assert finder().find("shop floor", STUDENT, Address("Turnpage Books", "shop floor", "till")) == books


@needs_shared
@pytest.mark.parametrize(("text", "place"), cases(IN_SMALLVILLE))
def test_a_place_in_smallville(text: str, place: str) -> None:
    assert str(finder("smallville").find(text, ABIGAIL)) == place


@needs_shared
@pytest.mark.parametrize("text", NOT_IN_SMALLVILLE)
def test_no_place_in_smallville(text: str) -> None:
    assert finder("smallville").find(text, ABIGAIL) is None


def test_there_is_no_guessing() -> None:
    texts = [*NOBODY_BUILT, *(f"{name} {kind}" for name in OTHER_TOWNS for kind in KINDS)]
    found = {said: finder().find(said, TENANT, SQUARE) for text in texts for said in (text, f"the {text}")}
    assert {said: str(place) for said, place in found.items() if place} == {}


@pytest.mark.parametrize("town", ["", pytest.param("smallville", marks=needs_shared)])
def test_every_address_means_itself_however_it_is_set(town: str) -> None:
    places = finder(town)
    for address in town_map(town).places:
        text = str(address)
        for said in (text, text.upper(), text.replace(": ", ":"), text.replace(": ", ", ") + "."):
            assert places.find(said, ABIGAIL if town else STUDENT) == address, said


@needs_shared
@pytest.mark.skipif(not (SHARED / "stss").is_dir(), reason="needs ../shared/data/stss")
def test_the_places_of_the_authors_tasks() -> None:
    said = {text for file in (SHARED / "stss").rglob("*.json") for text in locations(json.loads(file.read_text()))}
    found = {text: finder("smallville").find(text, ABIGAIL) for text in said}
    # Where a task is done online it has no place.
    assert [text for text, place in found.items() if place is None] == ["N/A"]
    assert {str(found[text]) for text in ("Hobbs Coffee", "Hobbs Caffe", "Hobbs coffee")} == {"Hobbs Cafe"}
    assert len(found) == 16


def locations(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from locations(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key.startswith("location"):
                yield from [each] if isinstance(each, str) else each
            else:
                yield from locations(each)


@settings(max_examples=150)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(" ".join(IN_TOWN).split()), max_size=6).map(" ".join)))
def test_whatever_is_written_there_is_an_answer(text: str) -> None:
    place = finder().find(text, STUDENT, SQUARE)
    assert place is None or place in town_map().places


def test_what_is_too_long_is_no_name() -> None:
    assert finder().find("the café" + " local" * LONGEST, STUDENT) is None


def town_of(*addresses: str, **kinds: str) -> TownMap:
    places = {}
    for number, text in enumerate(addresses):
        sector, arena = (part.strip() for part in text.split(":"))
        places[Address(sector)] = places[Address(sector, arena)] = [Tile(number, 0)]
    return TownMap("Elsewhere", np.zeros((1, len(addresses)), bool), places, kinds)


def test_kinds_of_a_map_of_ones_own() -> None:
    places = PlaceFinder(town_of("Seven Stars: dome", "Park Road 3: kitchen", "The On: bar", **{"Seven Stars": "planetarium"}))
    home = Address("Park Road 3", "kitchen")
    assert places.find("the planetarium", home) == Address("Seven Stars")
    assert places.find("7 stars planetarium", home) == Address("Seven Stars")
    # A house in Park Road is no park, and a name of small words is read only as it stands.
    assert places.find("the park", home) is None
    assert places.find("the on", home) == Address("The On")
    assert places.find("on it", home) is None
    assert places.find("somewhere nearby", home) is None


def test_numbers_are_never_slips_of_the_pen() -> None:
    places = PlaceFinder(town_of("Chandler Street 1: kitchen"))
    assert places.find("Chandlr Street 1", Address("Nowhere")) == Address("Chandler Street 1")
    assert places.find("Chandler Street 2", Address("Nowhere")) is None


def test_one_word_of_a_name_is_enough_where_it_is_written_as_one() -> None:
    assert finder().find("Heron", TENANT) == Address("Heron House")
    assert finder().find("okafor's", TENANT) == Address("Okafor's Grocery")
    # The heron may be a bird, and Ferry a ferry.
    assert [finder().find(text, TENANT) for text in ("the Heron", "heron", "Ferry", "Harbour", "the Tide")] == [None] * 5


def test_of_two_places_of_one_kind_neither_is_meant() -> None:
    places = PlaceFinder(town_of("The Anchor: bar", "The Bell: bar", **{"The Anchor": "pub", "The Bell": "pub"}))
    home = Address("The Anchor")
    assert places.find("the Bell pub", home) == Address("The Bell")
    assert places.find("the pub", Address("Nowhere")) is None
