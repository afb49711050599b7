"""The pictures of a report: each for light and for dark pages and some for narrow screens, as data: URIs."""

from __future__ import annotations

from dataclasses import dataclass

from joblib import Parallel, delayed

from .analysis import Analysis
from .drawing import SCHEMES, Image, render
from .sketches import Sketch, View, sketches
from .watch import Watch


@dataclass(frozen=True)
class Version:
    """A drawing of a picture: the kind of page it is for, as classes of the style; and what is seen."""

    kind: str
    image: Image
    alt: str


@dataclass(frozen=True)
class Picture:
    """All versions of a picture, of which the style shows one, and what it means.

    A ``picture`` element would do for screens, but browsers do not ask it again when they print: a dark page would be
    printed with dark pictures.
    """

    key: str
    versions: tuple[Version, ...]
    caption: str


def pictures(a: Analysis, watch: Watch | None = None) -> list[Picture]:
    """All that can be drawn of these data, in the order of the report; in parallel, where joblib is told so."""
    planned = list(sketches(a))
    tasks = [task for sketch in planned for task in sketch.tasks()]
    drawings = []
    for image in Parallel(return_as="generator")(delayed(render)(*task) for task in tasks):
        drawings.append(image)
        if watch:
            watch.advance(len(drawings), len(tasks))
    images = iter(drawings)
    return [_picture(sketch, [next(images) for _ in sketch.tasks()]) for sketch in planned]


def _picture(sketch: Sketch, images: list[Image]) -> Picture:
    """The images of a sketch, in the order of its tasks, with the pages they are for."""
    views: list[tuple[str, View]] = [("", sketch.view)]
    if sketch.narrow:
        views = [(" wide-screen", sketch.view), (" narrow-screen", sketch.narrow)]
    kinds = [(f"{scheme}{screen}", view.alt) for screen, view in views for scheme in SCHEMES]
    versions = tuple(Version(kind, image, alt) for (kind, alt), image in zip(kinds, images, strict=True))
    return Picture(sketch.key, versions, sketch.caption)
